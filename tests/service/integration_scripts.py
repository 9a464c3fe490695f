"""Scripts of integrations for the tests, in the two forms in which the platform's tools publish them."""

MODULE = """
const components = {
  async counter(event, environment) {
    let { count = 0 } = event.state ?? {};
    if (event.action?.action === "add") count += event.action.amount;
    const label = `${environment.installation?.configuration.label ?? "Count"}: ${count}`;
    const button = { type: "button", label, onPress: { action: "add", amount: 1 } };
    return { type: "element", state: { count }, props: event.props, element: { type: "block", children: [button] } };
  },
};

async function handle(event, environment) {
  console.log("handling", event.type);
  if (event.type !== "ui_render") return new Response("OK");
  const component = components[event.componentId];
  if (!component) return Response.json({ error: "component not found" }, { status: 404 });
  return Response.json(await component(event, environment), { headers: { "Cache-Control": "max-age=60" } });
}

const integration = {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname !== "/v1") return new Response("unsupported version", { status: 400 });
    const form = await request.formData();
    const environment = JSON.parse(form.get("environment"));
    ctx.waitUntil(new Promise((resolve) => setTimeout(resolve, 5)).then(() => console.warn("finished late")));
    return handle(JSON.parse(form.get("event")), environment);
  },
};
export { integration as default };
"""
"""An ES module whose default export handles requests; it has one component, with a state and an action."""

LISTENER = """
"use strict";
var __integration = (() => {
  async function respond(ev) {
    const form = await ev.request.formData();
    const event = JSON.parse(form.get("event"));
    const content = { pages: [], document: { object: "document", data: {}, nodes: [] } };
    if (event.type.startsWith("content_compute")) return Response.json(content);
    if (event.type !== "ui_render") return new Response("OK", { status: 200 });
    const element = { type: "block", children: [{ type: "text", children: [event.componentId] }] };
    return new Response(JSON.stringify({ element, state: {}, props: event.props }), {
      headers: { "Content-Type": "application/json" },
    });
  }
  addEventListener("fetch", (ev) => ev.respondWith(respond(ev)));
})();
"""
"""A script that listens for requests; it renders the name of any component, and computes empty content."""

RUNTIME = """
const createComponent = ({ componentId, initialState = {}, render, action }) => ({
  componentId,
  async render(event, context) {
    let element = { props: event.props, state: event.state ?? initialState, context: event.context };
    if (event.action && action) element = { ...element, ...(await action(element, event.action, context)) };
    const { props, state } = element;
    return Response.json({ type: "element", element: await render(element, context), state, props });
  },
});
const createIntegration = ({ components = [], contentSources = [], events = {}, fetch, fetch_published_script }) => ({
  async fetch(request, _env, worker) {
    const form = await request.formData();
    const event = JSON.parse(form.get("event"));
    const environment = JSON.parse(form.get("environment"));
    const context = { environment, waitUntil: (promise) => worker.waitUntil(promise) };
    switch (event.type) {
      case "fetch": {
        const { url, method, headers } = event.request;
        return fetch(new Request(url, { method, headers, body: form.get("fetch-body") }), context);
      }
      case "fetch_published_script":
        return fetch_published_script(event, context);
      case "ui_render":
        return components.find((one) => one.componentId === event.componentId).render(event, context);
      case "content_compute_document":
      case "content_compute_revision":
        return contentSources.find((one) => one.sourceId === event.sourceId).compute(event, context);
    }
    if (!events[event.type]) return new Response("no handler", { status: 406 });
    await events[event.type](event, context);
    return new Response("OK");
  },
});
const createContentSource = ({ sourceId, getRevision, getPageDocument }) => ({
  sourceId,
  async compute({ type, props, dependencies }, context) {
    const input = { props, dependencies };
    if (type === "content_compute_revision") return Response.json(await getRevision(input, context));
    return Response.json({ document: await getPageDocument(input, context) });
  },
});
const apiRequest = ({ environment }, method, path, body) =>
  globalThis.fetch(`${environment.apiEndpoint}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${environment.apiTokens.installation}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
"""
"""The conventions of the platform's runtime, placed in front of the scripts of integrations below."""

COMPUTING = (
    RUNTIME
    + """
const pirate = createContentSource({
  sourceId: "pirate",
  async getRevision({ props, dependencies }, { environment }) {
    const response = await apiRequest({ environment }, "GET", `/spaces/${environment.spaceInstallation.space}`);
    const { title } = await response.json();
    const computed = { type: `integration:${environment.integration.name}:pirate`, props: { greeting: "Arr" } };
    const page = { type: "document", title: `${props.greeting} ${title}`, slug: "arr", path: "arr", computed };
    const pages = [{ id: "arr", pages: [], ...page, from: dependencies.main?.value }];
    return { pages, files: [], reusableContents: [] };
  },
  async getPageDocument({ props }) {
    if (props.greeting === "none") return undefined;
    const leaves = [{ object: "leaf", text: props.greeting, marks: [] }];
    const text = { object: "text", leaves };
    return { object: "document", data: {}, nodes: [{ object: "block", type: "paragraph", data: {}, nodes: [text] }] };
  },
});
export default createIntegration({ contentSources: [pirate] });
"""
)
"""Computes pages and documents as the content source `pirate`."""

UPDATING = (
    RUNTIME
    + """
const update = async ({ installationId, KINDId }, context) => {
  const at = `/integrations/${context.environment.integration.name}/installations/${installationId}/KINDs/${KINDId}`;
  await apiRequest(context, "PATCH", at, { configuration: { known: true } });
};
export default createIntegration({ events: { KIND_installation_setup: update } });
"""
)
"""Updates its configuration in a place when it is set up there. `KIND` is space or site."""

WRITING = (
    RUNTIME
    + """
const paragraph = (words) => {
  const text = { object: "text", leaves: [{ object: "leaf", text: words, marks: [] }] };
  return { object: "block", type: "paragraph", data: {}, nodes: [text] };
};
const pirate = createContentSource({
  sourceId: "pirate",
  async getRevision({ props }, { environment }) {
    if (props.number < 0) return {};
    const page = (title, slug, words, pages = []) => ({ id: slug, type: "document", title, slug, pages,
      computed: { type: `integration:${environment.integration.name}:pirate`, props: { words } } });
    if (props.number) return { pages: [...Array(props.number)].map((_, index) => page(`${index}`, `${index}`, "")) };
    const below = page("Below deck", "below", `${props.greeting} below`);
    const group = { id: "crew", type: "group", title: "Crew", pages: [], slug: "crew" };
    const link = { id: "away", type: "link", title: "Away", href: "https://example.org/" };
    return { pages: [page(props.greeting, "ahoy", "Above", [below]), group, link] };
  },
  async getPageDocument({ props }) {
    return { object: "document", data: {}, nodes: [paragraph(props.words)] };
  },
});
export default createIntegration({ contentSources: [pirate] });
"""
)
"""Computes the pages of a space, each with a document, as the content source `pirate`."""

ENVIRONMENT = (
    RUNTIME
    + """
const block = createComponent({
  componentId: "environment",
  async render(_element, { environment }) {
    console.log("the environment is", JSON.stringify(environment));
    const shown = (value) => (typeof value === "string" ? value.length : Object.keys(value));
    const { integration, installation, spaceInstallation, siteInstallation, apiEndpoint } = environment;
    const lengths = [environment.apiTokens, environment.signingSecrets, environment.secrets].map((values) =>
      Object.entries(values).map(([name, value]) => [name, value.length]));
    return { type: "block", children: [], integration, installation, spaceInstallation, siteInstallation, apiEndpoint,
      lengths, leaked: [environment.apiTokens.installation, environment.secrets.KEY] };
  },
});
export default createIntegration({ components: [block] });
"""
)
"""Renders its environment, and tries to leak its token and its secret in the log and in the response."""

CALLING = (
    RUNTIME
    + """
const block = createComponent({
  componentId: "calling",
  async render({ props }, context) {
    const answers = [];
    for (const [method, path, body] of props.calls) {
      try {
        const response = await apiRequest(context, method, path, body);
        answers.push([response.status, await response.text()]);
      } catch (error) {
        answers.push([0, error.message]);
      }
    }
    return { type: "block", children: [], answers };
  },
});
const events = {
  async installation_setup({ installationId }, context) {
    const path = `/integrations/${context.environment.integration.name}/installations/${installationId}`;
    const response = await apiRequest(context, "PATCH", path, { configuration: { known: true } });
    console.log("updated", response.status);
  },
};
export default createIntegration({ components: [block], events });
"""
)
"""Calls the API of the service with its token, when a block is rendered and when it is installed."""

ENDPOINT = (
    RUNTIME
    + """
export default createIntegration({
  async fetch(request, { environment }) {
    const { pathname, searchParams } = new URL(request.url);
    const { installation, spaceInstallation, integration } = environment;
    const base = new URL((spaceInstallation ?? installation ?? integration).urls.publicContentEndpoint).pathname;
    switch (pathname.slice(base.length)) {
      case "/echo": {
        const { method, headers } = request;
        const body = await request.text();
        const got = { method, body, name: searchParams.get("name"), space: spaceInstallation?.space,
          headers: [...headers.keys()], token: environment.apiTokens.integration };
        return Response.json(got, { headers: { "Set-Cookie": "a=1", "Cache-Control": "max-age=60" } });
      }
      case "/sign-in":
        return Response.redirect(`https://id.example.org/?client=${environment.secrets.KEY}`);
      case "/page":
        return new Response("<script>document.title = 'drawn'</script>", { headers: { "Content-Type": "text/html" } });
      case "/loop":
        for (;;);
      case "/wait":
        await new Promise((resolve) => setTimeout(resolve, 8000));
        return new Response("waited");
      case "/foreign-letters":
        return new Response("shown", { headers: { "Content-Type": "text/plain; charset=\u0101" } });
      case "/nothing":
        return new Response("a body", { status: 204 });
      case "/keys":
        return Response.json(Object.values(environment.signingSecrets).map((secret) => [...secret]));
    }
    return new Response("no such page", { status: 404 });
  },
});
"""
)
"""Responds to requests at its endpoints."""

DIAGRAMS = (
    RUNTIME
    + """
const text = (words) => ({ type: "text", children: [words] });
const diagram = createComponent({
  componentId: "diagram",
  async render({ props }, { environment }) {
    if (props.content === "loop") for (;;);
    if (props.content === "break") throw new Error("broken");
    if (props.content.startsWith("wait")) await new Promise((resolve) => setTimeout(resolve, 2500));
    if (props.content === "large") return { type: "block", children: [{ type: "text", children: ["&".repeat(9e4)] }] };
    if (props.content === "origin") return { type: "block", children: [environment.apiEndpoint].map(text) };
    const { space } = environment.spaceInstallation;
    const label = `${environment.installation.configuration.label ?? "Drawn"} in ${space}`;
    console.log("drawing");
    return { type: "block", children: [
      { type: "image", source: { url: `https://img.example/${encodeURIComponent(props.content)}` }, aspectRatio: 1 },
      { type: "text", children: [label] },
      { type: "markdown", content: "**bold** <script>document.title = 'foreign'</script>" },
    ] };
  },
});
export default createIntegration({
  components: [diagram],
  async fetch_published_script({ siteId }, { environment }) {
    const { label } = environment.installation.configuration;
    const source = label === "origin" ? `// ${environment.apiEndpoint}`
      : `document.documentElement.dataset.lamp = ${JSON.stringify(siteId)};`;
    return new Response(source, { headers: { "Content-Type": "application/javascript" } });
  },
});
"""
)
"""Draws diagrams, and adds a script to the pages of a site."""

WEB_APIS = """
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const decoder = new TextDecoder();
const bytes = (text) => new TextEncoder().encode(text);
const thrown = (work) => { try { work(); return null } catch (error) { return error.name } };
export default { async fetch() {
  const url = new URL("../x?a=1&a=2#end", "https://user:word@Example.org:8443/one/two/three");
  const search = url.search;
  url.searchParams.append("k", "ä &=");
  url.pathname = "p q";
  const headers = new Headers({ "X-One": " 1 ", b: "2" });
  headers.append("x-one", "3");
  const body = new URLSearchParams("a=1&b=%20x");
  const form = await new Request("https://a.example/", { method: "POST", body }).formData();
  const order = [];
  setTimeout(() => order.push("later"), 20);
  const stopped = setTimeout(() => order.push("never"), 1);
  clearTimeout(stopped);
  await new Promise((resolve) => setTimeout(resolve, 5)).then(() => order.push("soon"));
  await new Promise((resolve) => setTimeout(resolve, 30));
  let ticks = 0;
  await new Promise((resolve) => {
    const id = setInterval(() => {
      ticks += 1;
      if (ticks < 3) return;
      clearInterval(id);
      resolve();
    }, 1);
  });
  const key = await crypto.subtle.importKey("raw", bytes("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, bytes("The quick brown fox jumps over the lazy dog"));
  const used = new Response("once");
  await used.text();
  const copied = new Response(new Uint8Array([0xc3, 0xa4])).clone();
  return Response.json({
    url: url.href,
    parts: [url.protocol, url.username, url.host, url.hostname, url.port, search, url.hash, url.origin],
    invalid: [thrown(() => new URL("/path")), thrown(() => new URL("http://")), URL.canParse("https://a.example")],
    query: [[...new URLSearchParams("a=1&b=2&a=3").getAll("a")], new URLSearchParams({ x: "1 2" }).toString()],
    headers: [...headers],
    form: [...form],
    text: [hex(bytes("ä€😀")), decoder.decode(bytes("ä€😀")), decoder.decode(new Uint8Array([0xff]))],
    fatal: thrown(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))),
    order,
    ticks,
    digest: hex(await crypto.subtle.digest("SHA-256", bytes("abc"))),
    signature: hex(signature),
    verified: [
      await crypto.subtle.verify("HMAC", key, signature, bytes("The quick brown fox jumps over the lazy dog")),
      await crypto.subtle.verify("HMAC", key, signature, bytes("The quick brown fox")),
    ],
    random: same([...crypto.getRandomValues(new Uint8Array(16))], [...crypto.getRandomValues(new Uint8Array(16))]),
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
    used: await used.text().catch((error) => error.name),
    copied: await copied.text(),
    redirect: [Response.redirect("https://a.example/", 303).status, Response.json({}).headers.get("content-type")],
    base64: atob(btoa("abc")),
  });
} };
"""

FETCHING = """
export default { async fetch() {
  const shown = [];
  for (const url of %s) {
    try {
      const response = await fetch(url, { headers: { "x-a": "1", host: "evil.example" } });
      shown.push([response.status, await response.text(), response.redirected]);
    } catch (error) {
      shown.push(error.message);
    }
  }
  return Response.json(shown);
} };
"""

CONFINED = """
import importlib.util, os, signal, socket, subprocess, sys
spec = importlib.util.spec_from_file_location("process", sys.argv[1])
process = importlib.util.module_from_spec(spec)
spec.loader.exec_module(process)
os.execv  # the interpreter has loaded all that the attempts need
process.restrict(1 << 30, 5, 20, reads_files=len(sys.argv) > 3)
attempts = {
    "open": lambda: open("/etc/passwd"),
    "write": lambda: open(sys.argv[2], "w"),
    "socket": lambda: socket.socket(),
    "pipe": lambda: os.pipe(),
}
if sys.platform == "linux":
    attempts |= {
        **({} if len(sys.argv) > 3 else {"fork": os.fork}),  # a process that starts threads can do that
        "execute": lambda: os.execv("/bin/true", ["true"]),
        "signal": lambda: os.kill(os.getppid(), 0),
        "delete": lambda: os.unlink(sys.argv[1]),
        "list": lambda: os.listdir("/"),
        "look": lambda: os.stat("/"),
    }
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError:
        continue
    print(name)
print("end")
"""
