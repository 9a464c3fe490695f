"""The service itself."""

from presscheck.api.operation import Model, Operation


class ApiInformation(Model):
    """The release of the API and the version of the program that serves it."""

    version: str
    build: str


class GetApiInformation(Operation[ApiInformation]):
    """Get the version of the service."""

    operation_id = "getApiInformation"
    route = "GET /"
    feature = "versions of services"
    release = "0.202.0"
