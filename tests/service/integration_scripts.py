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
    if (event.type !== "ui_render") return new Response("OK", { status: 200 });
    const element = { type: "block", children: [{ type: "text", children: [event.componentId] }] };
    return new Response(JSON.stringify({ element, state: {}, props: event.props }), {
      headers: { "Content-Type": "application/json" },
    });
  }
  addEventListener("fetch", (ev) => ev.respondWith(respond(ev)));
})();
"""
"""A script that listens for requests; it renders the name of any component."""
