"""An integration that uses everything that the app can show: all kinds of settings, blocks, a modal and events."""

from __future__ import annotations

from typing import Any

from presscheck.api.integrations import PublishIntegration
from presscheck.client.client import Client

ORG = "tallowick"
LONG = "It lights pages. " * 30

SCRIPT = """
const text = (children, style) => ({ type: "text", children, style });
const button = (label, action, more) => ({ type: "button", label, onPress: action, ...more });

const lamp = (event) => {
  const state = { name: "", color: "red", on: false, days: [], size: "small", pressed: 0, ...event.state };
  const { action = {} } = event;
  if (action.action === "add") state.pressed += 1;
  if (action.action === "color") state.note = `color is ${state.color}`;
  if (action.action === "fail") throw new Error("the fuse blew");
  if (action.action === "@ui.modal.close") state.note = `modal returned ${action.returnValue.answer}`;
  const children = [
    { type: "hstack", children: [text("Pressed"), text(String(state.pressed), "bold"), text("times")] },
    { type: "markdown", content: "A **lamp** with `code`\\n\\n* one\\n* two" },
    { type: "markdown", content: { $state: "note" } },
    { type: "card", title: "A card", hint: "of the lamp", onPress: { action: "add" }, children: [text("inside")],
      buttons: [button("Card button", { action: "add" })] },
    { type: "input", label: "Name", hint: "as on the box",
      element: { type: "textinput", state: "name", placeholder: "no name" } },
    { type: "input", label: "Secret", element: { type: "textinput", state: "secret", inputType: "password" } },
    { type: "input", label: "Color", element: { type: "select", state: "color", onValueChange: { action: "color" },
      options: [{ id: "red", label: "Red" }, { id: "green", label: "Green" }] } },
    { type: "input", label: "Days", element: { type: "select", state: "days", multiple: true,
      options: [{ id: "mo", label: "Monday" }, { id: "tu", label: "Tuesday" }] } },
    { type: "input", label: "Shines", element: { type: "switch", state: "on" } },
    { type: "radio", state: "size", value: "large" },
    { type: "checkbox", state: "extra", value: "shade" },
    { type: "divider" },
    { type: "codeblock", content: "let lamp = 1", state: "code", syntax: "js" },
    { type: "link", target: { url: "https://lamp.example/manual" }, children: ["The manual"] },
    { type: "webframe", source: { url: "https://lamp.example/frame" } },
    { type: "sparkle" },
    text(`sent ${state.name}/${state.color}/${state.on}/${state.days}/${state.size}/${state.extra}/${state.code}`),
    button("Add", { action: "add" }, { style: "primary" }),
    button("Reset", { action: "add" }, { confirm: { title: "Reset it?", text: "All is lost.", confirm: "Reset" } }),
    button("Locked", { action: "add" }, { disabled: true }),
    button("Ask", { action: "@ui.modal.open", componentId: "asking", props: { question: "Which lamp?" } }),
    button("Blow", { action: "fail" }),
  ];
  return { state, props: event.props, element: { type: "block", children } };
};

const asking = (event) => {
  const children = [{ type: "input", label: "Answer", element: { type: "textinput", state: "answer" } }];
  if (event.action?.action === "done") {
    return { type: "complete", returnValue: { answer: event.state.answer } };
  }
  const submit = button("Done", { action: "done" });
  return { state: { answer: "", ...event.state }, props: event.props,
    element: { type: "modal", title: event.props.question, children, submit } };
};

const wizard = (event) => {
  const step = event.action?.step ?? "one";
  if (event.action?.action === "complete") return { type: "complete" };
  const children = ["one", "two"].map((id) => ({ type: "step", id, title: `The step ${id}`, next: true,
    children: [text(`inside ${id}`)] }));
  return { state: { step }, props: event.props, element: { type: "configuration", children: [
    { type: "stepper", activeStep: step, onStepChange: { action: "go" }, onComplete: { action: "complete" }, children },
  ] } };
};

export default { async fetch(request) {
  const form = await request.formData();
  const event = JSON.parse(form.get("event"));
  console.log("handling", event.type);
  if (event.type !== "ui_render") return new Response("OK");
  return Response.json({ lamp, asking, wizard }[event.componentId](event));
} };
"""
"""An ES module with a block, a modal and a configuration in steps."""

SETTINGS = {
    "properties": {
        "label": {"type": "string", "title": "Label", "description": "Shown on the lamp"},
        "api.token": {"type": "string", "title": "Token"},
        "watts": {"type": "number", "title": "Watts", "default": 40},
        "dim": {"type": "boolean", "title": "Can be dimmed"},
        "color": {"type": "string", "title": "Color", "enum": ["red", "green"]},
        "sign in": {"type": "button", "title": "Account", "button_text": "Connect", "callback_url": "/oauth"},
    },
    "required": ["api.token"],
}
"""Settings of every kind."""


def lamp(name: str = "lamp", **more: Any) -> PublishIntegration:
    """Return the operation that publishes the integration."""
    given: dict[str, Any] = {
        "title": "Lamp",
        "description": "Lights up pages",
        "summary": LONG,
        "scopes": ("space:content:read", "site:script:inject", "space:metadata:write"),
        "categories": ("analytics", "content"),
        "blocks": ({"id": "lamp", "title": "A lamp", "description": "Shines", "urlUnfurl": ["lamp.example"]},),
        "content_sources": ({"id": "shades", "title": "Shades of lamps", "configuration": {"componentId": "wizard"}},),
        "configurations": {"account": SETTINGS},
        "external_links": ({"url": "https://lamp.example/", "label": "Homepage"},),
        "visibility": "public",
        "script": SCRIPT,
        "organization": ORG,
    }
    return PublishIntegration(integration_name=name, **{**given, **more})


async def publish_lamps(client: Client) -> None:
    """Publish the lamp, and a torch without its categories, scopes and blocks, which some filters exclude."""
    await client.send(lamp())
    await client.send(
        lamp(
            "torch",
            title="Torch",
            description="No blocks",
            categories=("marketing",),
            scopes=(),
            blocks=None,
            content_sources=None,
            configurations=None,
            summary=None,
            target="site",
        )
    )
