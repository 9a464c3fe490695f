const text = (children, style) => ({ type: "text", children, style });

const parcel = (event) => {
  const state = { number: event.props?.number ?? "TW-2041", asked: 0, ...event.state };
  if (event.action?.action === "ask") state.asked += 1;
  const children = [
    { type: "input", label: "Number of the parcel", element: { type: "textinput", state: "number" } },
    { type: "markdown", content: `**${state.number}** left the depot, and arrives tomorrow.` },
    { type: "divider" },
    text(`Asked ${state.asked} times`),
    { type: "button", label: "Ask the carrier", onPress: { action: "ask" }, style: "primary" },
  ];
  return { state, props: event.props, element: { type: "block", children } };
};

const timetable = {
  content_compute_revision: {
    pages: [
      { id: "timetable", type: "document", title: "Timetable", slug: "timetable", pages: [],
        computed: { type: "integration:parcel-status:timetable", props: {} } },
    ],
  },
  content_compute_document: {
    document: { object: "document", data: {}, nodes: [
      { object: "block", type: "paragraph", data: {}, nodes: [
        { object: "text", leaves: [{ object: "leaf", text: "Nordpost collects parcels at noon.", marks: [] }] },
      ] },
    ] },
  },
};

export default {
  async fetch(request) {
    const form = await request.formData();
    const event = JSON.parse(form.get("event"));
    console.log("handling", event.type);
    if (timetable[event.type]) return Response.json(timetable[event.type]);
    return event.type === "ui_render" ? Response.json(parcel(event)) : new Response("OK");
  },
};
