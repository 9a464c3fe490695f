// The web APIs for the script of an integration, and the function that passes an event to it.
//
// QuickJS has the language only. A script that breaks these APIs harms only itself: the process enforces the limits that
// protect the service (script_process.py).
(() => {
  "use strict";
  const callHost = globalThis.__host;
  delete globalThis.__host;
  const { parse, stringify } = JSON;
  const { min, max, floor } = Math;
  const now = Date.now;
  const fromCharCode = String.fromCharCode;
  const encodeBase64 = globalThis.btoa;
  const decodeBase64 = globalThis.atob;
  const MOST_LINES = 200;
  const LONGEST_LINE = 2000;

  const host = (operation, values) => {
    const reply = parse(callHost(operation, stringify(values)));
    if (reply.exception) throw new Error(reply.exception);
    return reply;
  };

  // stacks begin with the error, as in V8, because scripts log only the stack
  Error.prepareStackTrace = (error, sites) => {
    const places = sites.map((site) => {
      const place = site.isNative() ? "native" : `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`;
      return `    at ${site.getFunctionName() || "<anonymous>"} (${place})`;
    });
    return [`${error.name}: ${error.message}`, ...places].join("\n");
  };

  // ---- bytes and text

  const bytesOf = (value) => {
    if (value instanceof Uint8Array) return value;
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    throw new TypeError("must be an ArrayBuffer or a typed array");
  };

  const toBase64 = (bytes) => {
    const parts = [];
    for (let at = 0; at < bytes.length; at += 4096) parts.push(fromCharCode(...bytes.subarray(at, at + 4096)));
    return encodeBase64(parts.join(""));
  };

  const fromBase64 = (text) => {
    const binary = decodeBase64(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return bytes;
  };

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }

    encode(text = "") {
      const binary = unescape(encodeURIComponent(String(text).toWellFormed()));
      const bytes = new Uint8Array(binary.length);
      for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
      return bytes;
    }

    encodeInto(text, target) {
      const bytes = this.encode(text);
      if (bytes.length > target.length) throw new RangeError("the target is too small");
      target.set(bytes);
      return { read: String(text).length, written: bytes.length };
    }
  }

  class TextDecoder {
    constructor(label = "utf-8", options = {}) {
      if (!/^utf-?8$/i.test(label)) throw new RangeError(`the encoding ${label} is not supported`);
      this.encoding = "utf-8";
      this.fatal = Boolean(options.fatal);
      this.ignoreBOM = Boolean(options.ignoreBOM);
    }

    decode(input = new Uint8Array()) {
      const bytes = bytesOf(input);
      const { text, error } = host("decode", { bytes: toBase64(bytes), fatal: this.fatal });
      if (error) throw new TypeError(error);
      return !this.ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }
  }

  // ---- URLs

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};

    constructor(init = "", changed = () => {}) {
      if (typeof init === "object" && init !== null) {
        const entries = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
        for (const [name, value] of entries) this.#pairs.push([String(name), String(value)]);
      } else {
        this.#pairs = host("parse_query", { text: String(init).replace(/^\?/, "") }).pairs;
      }
      this.#changed = changed;
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed(this.toString());
    }

    delete(name) {
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(name));
      this.#changed(this.toString());
    }

    get(name) {
      const pair = this.#pairs.find((candidate) => candidate[0] === String(name));
      return pair ? pair[1] : null;
    }

    getAll(name) {
      return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]);
    }

    has(name) {
      return this.#pairs.some((pair) => pair[0] === String(name));
    }

    set(name, value) {
      const at = this.#pairs.findIndex((pair) => pair[0] === String(name));
      if (at < 0) return this.append(name, value);
      this.#pairs = this.#pairs.filter((pair, index) => index <= at || pair[0] !== String(name));
      this.#pairs[at] = [String(name), String(value)];
      return this.#changed(this.toString());
    }

    sort() {
      this.#pairs.sort((first, second) => (first[0] < second[0] ? -1 : Number(first[0] > second[0])));
      this.#changed(this.toString());
    }

    forEach(callback, self) {
      for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
    }

    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }

    *keys() {
      for (const pair of this.#pairs) yield pair[0];
    }

    *values() {
      for (const pair of this.#pairs) yield pair[1];
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return host("format_query", { pairs: this.#pairs }).text;
    }
  }

  class URL {
    #parts;
    #query;

    constructor(url, base) {
      const parts = host("parse_url", { url: String(url), base: base === undefined ? null : String(base) });
      if (parts.error) throw new TypeError(`Invalid URL: ${url}`);
      this.#parts = parts;
      this.#query = new URLSearchParams(parts.search, (text) => {
        this.#parts.search = text ? `?${text}` : "";
      });
    }

    static canParse(url, base) {
      return !host("parse_url", { url: String(url), base: base === undefined ? null : String(base) }).error;
    }

    get searchParams() {
      return this.#query;
    }

    get search() {
      return this.#parts.search;
    }

    set search(value) {
      const text = String(value).replace(/^\?/, "");
      this.#parts.search = text ? `?${text}` : "";
      this.#query = new URLSearchParams(text, (changed) => {
        this.#parts.search = changed ? `?${changed}` : "";
      });
    }

    get hash() {
      return this.#parts.hash;
    }

    set hash(value) {
      const text = String(value).replace(/^#/, "");
      this.#parts.hash = text ? `#${text}` : "";
    }

    get pathname() {
      return this.#parts.pathname;
    }

    set pathname(value) {
      const path = String(value).replace(/^\//, "").toWellFormed();
      this.#parts.pathname = `/${encodeURI(path).replace(/%25/g, "%")}`;
    }

    get host() {
      return this.#parts.port ? `${this.#parts.hostname}:${this.#parts.port}` : this.#parts.hostname;
    }

    set host(value) {
      [this.#parts.hostname, this.#parts.port = ""] = String(value).split(":");
    }

    get origin() {
      return `${this.#parts.protocol}//${this.host}`;
    }

    get href() {
      const { protocol, username, password, pathname, search, hash } = this.#parts;
      const user = username ? `${username}${password ? `:${password}` : ""}@` : "";
      return `${protocol}//${user}${this.host}${pathname}${search}${hash}`;
    }

    toString() {
      return this.href;
    }

    toJSON() {
      return this.href;
    }

    static {
      for (const name of ["protocol", "username", "password", "hostname", "port"]) {
        Object.defineProperty(URL.prototype, name, {
          configurable: true,
          enumerable: true,
          get() {
            return this.#parts[name];
          },
          set(value) {
            this.#parts[name] = String(value);
          },
        });
      }
    }
  }

  // ---- HTTP

  class Headers {
    #values = new Map();

    constructor(init) {
      if (init === undefined || init === null) return;
      const entries = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const [name, value] of entries) this.append(name, value);
    }

    append(name, value) {
      const key = String(name).toLowerCase();
      if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key)) throw new TypeError(`invalid header name: ${key}`);
      const before = this.#values.get(key) ?? [];
      this.#values.set(key, [...before, String(value).trim()]);
    }

    delete(name) {
      this.#values.delete(String(name).toLowerCase());
    }

    get(name) {
      const values = this.#values.get(String(name).toLowerCase());
      return values ? values.join(", ") : null;
    }

    getSetCookie() {
      return [...(this.#values.get("set-cookie") ?? [])];
    }

    has(name) {
      return this.#values.has(String(name).toLowerCase());
    }

    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }

    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }

    *entries() {
      for (const name of [...this.#values.keys()].sort()) yield [name, this.get(name)];
    }

    *keys() {
      for (const [name] of this.entries()) yield name;
    }

    *values() {
      for (const [, value] of this.entries()) yield value;
    }

    [Symbol.iterator]() {
      return this.entries();
    }
  }

  class FormData {
    #pairs = [];

    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
    }

    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }

    delete(name) {
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(name));
    }

    get(name) {
      const pair = this.#pairs.find((candidate) => candidate[0] === String(name));
      return pair ? pair[1] : null;
    }

    getAll(name) {
      return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]);
    }

    has(name) {
      return this.#pairs.some((pair) => pair[0] === String(name));
    }

    forEach(callback, self) {
      for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
    }

    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }

    *keys() {
      for (const pair of this.#pairs) yield pair[0];
    }

    *values() {
      for (const pair of this.#pairs) yield pair[1];
    }

    [Symbol.iterator]() {
      return this.entries();
    }
  }

  class Body {
    #content;
    #used = false;

    constructor(content, headers) {
      let type = null;
      if (typeof content === "string") type = "text/plain;charset=UTF-8";
      else if (content instanceof URLSearchParams) type = "application/x-www-form-urlencoded;charset=UTF-8";
      else if (content instanceof ArrayBuffer || ArrayBuffer.isView(content)) content = bytesOf(content).slice();
      else if (content !== undefined && content !== null && !(content instanceof FormData)) content = String(content);
      this.#content = content ?? null;
      if (type && !headers.has("content-type")) headers.set("content-type", type);
    }

    get bodyUsed() {
      return this.#used;
    }

    static contentOf(body) {
      if (body.#used) throw new TypeError("the body is used already");
      return body.#content;
    }

    #taken() {
      const content = Body.contentOf(this);
      this.#used = content !== null;
      return content;
    }

    async bytes() {
      const content = this.#taken();
      if (content instanceof Uint8Array) return content;
      if (content instanceof FormData) throw new TypeError("a form cannot be read as bytes");
      return new TextEncoder().encode(content === null ? "" : String(content));
    }

    async arrayBuffer() {
      return (await this.bytes()).slice().buffer;
    }

    async text() {
      const content = this.#taken();
      if (content instanceof Uint8Array) return new TextDecoder().decode(content);
      if (content instanceof FormData) throw new TypeError("a form cannot be read as text");
      return content === null ? "" : String(content);
    }

    async json() {
      return parse(await this.text());
    }

    async formData() {
      const content = Body.contentOf(this);
      if (content instanceof FormData) {
        this.#used = true;
        return content;
      }
      if (!/^application\/x-www-form-urlencoded/i.test(this.headers.get("content-type") ?? "")) {
        throw new TypeError("the body is not a form");
      }
      const form = new FormData();
      for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
      return form;
    }
  }

  class Request extends Body {
    constructor(input, init = {}) {
      const given = input instanceof Request ? input : null;
      const headers = new Headers(init.headers ?? given?.headers);
      super(init.body ?? (given ? Body.contentOf(given) : null), headers);
      this.url = given ? given.url : new URL(String(input)).href;
      this.method = String(init.method ?? given?.method ?? "GET").toUpperCase();
      this.headers = headers;
      this.redirect = String(init.redirect ?? given?.redirect ?? "follow");
    }

    clone() {
      return new Request(this);
    }
  }

  class Response extends Body {
    constructor(body = null, init = {}) {
      const status = init.status === undefined ? 200 : Number(init.status);
      if (!(status >= 200 && status <= 599)) throw new RangeError("the status must be from 200 to 599");
      const headers = new Headers(init.headers);
      super(body, headers);
      this.status = floor(status);
      this.statusText = String(init.statusText ?? "");
      this.headers = headers;
      this.url = "";
      this.redirected = false;
      this.type = "default";
    }

    get ok() {
      return this.status >= 200 && this.status <= 299;
    }

    clone() {
      const copy = new Response(Body.contentOf(this), this);
      copy.url = this.url;
      return copy;
    }

    static json(value, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      return new Response(stringify(value), { ...init, headers });
    }

    static redirect(url, status = 302) {
      return new Response(null, { status, headers: { location: String(url) } });
    }
  }

  const fetch = async (input, init = {}) => {
    const request = new Request(input instanceof URL ? input.href : input, init);
    const body = await request.bytes();
    const reply = host("fetch", {
      method: request.method,
      url: request.url,
      headers: [...request.headers],
      body: toBase64(body),
      redirect: request.redirect,
    });
    if (reply.error) throw new TypeError(reply.error);
    const isEmpty = [204, 205, 304].includes(reply.status);
    const response = new Response(isEmpty ? null : fromBase64(reply.body), reply);
    response.url = reply.url;
    response.redirected = reply.url !== request.url;
    return response;
  };

  // ---- timers: the process calls `tick` when no other work is left

  const timers = new Map();
  let lastTimer = 0;

  const addTimer = (isRepeated) => (callback, delay = 0, ...values) => {
    const pause = max(0, Number(delay) || 0);
    lastTimer += 1;
    timers.set(lastTimer, { callback, values, due: now() + pause, pause: isRepeated ? max(1, pause) : null });
    return lastTimer;
  };

  const clearTimer = (id) => void timers.delete(id);

  const tick = () => {
    const moment = now();
    let next = null;
    for (const [id, timer] of timers) {
      if (timer.due <= moment && (next === null || timer.due < timers.get(next).due)) next = id;
    }
    if (next !== null) {
      const timer = timers.get(next);
      if (timer.pause === null) timers.delete(next);
      else timer.due = moment + timer.pause;
      try {
        timer.callback(...timer.values);
      } catch (error) {
        write("error")(error);
      }
      return 0;
    }
    let wait = Infinity;
    for (const timer of timers.values()) wait = min(wait, timer.due - moment);
    return timers.size ? max(1, wait) : -1;
  };

  // ---- cryptography

  const hashName = (algorithm) => String(typeof algorithm === "object" ? algorithm.name : algorithm).toUpperCase();

  class CryptoKey {
    #bytes;

    constructor(bytes, hash, usages) {
      this.#bytes = bytes;
      this.type = "secret";
      this.extractable = false;
      this.algorithm = { name: "HMAC", hash: { name: hash }, length: bytes.length * 8 };
      this.usages = usages;
    }

    static bytesOf(key) {
      return key.#bytes;
    }
  }

  const sign = (key, data) => {
    const values = { hash: key.algorithm.hash.name, key: toBase64(CryptoKey.bytesOf(key)), data: toBase64(bytesOf(data)) };
    const reply = host("hmac", values);
    if (reply.error) throw new DOMException(reply.error, "NotSupportedError");
    return fromBase64(reply.bytes);
  };

  const subtle = {
    async digest(algorithm, data) {
      const reply = host("digest", { hash: hashName(algorithm), data: toBase64(bytesOf(data)) });
      if (reply.error) throw new DOMException(reply.error, "NotSupportedError");
      return fromBase64(reply.bytes).buffer;
    },
    async importKey(format, data, algorithm, _extractable, usages = []) {
      if (format !== "raw" || hashName(algorithm) !== "HMAC") {
        throw new DOMException("only raw keys for HMAC are supported", "NotSupportedError");
      }
      return new CryptoKey(bytesOf(data).slice(), hashName(algorithm.hash), [...usages]);
    },
    async sign(_algorithm, key, data) {
      return sign(key, data).buffer;
    },
    async verify(_algorithm, key, signature, data) {
      const expected = sign(key, data);
      const given = bytesOf(signature);
      let difference = expected.length ^ given.length;
      for (let at = 0; at < expected.length; at += 1) difference |= expected[at] ^ (given[at] ?? 0);
      return difference === 0;
    },
  };

  const crypto = {
    subtle,
    getRandomValues(target) {
      const bytes = bytesOf(target);
      if (bytes.length > 65536) throw new DOMException("more than 65536 bytes", "QuotaExceededError");
      bytes.set(fromBase64(host("random", { count: bytes.length }).bytes));
      return target;
    },
    randomUUID() {
      return host("uuid", {}).text;
    },
  };

  // ---- console

  const described = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof Error) return String(value.stack || value);
      if (typeof value === "object" && value !== null) return stringify(value) ?? String(value);
      return String(value);
    } catch {
      return "[not printable]";
    }
  };

  let lines = 0;
  const write = (level) => (...values) => {
    lines += 1;
    if (lines > MOST_LINES) return;
    const message = lines === MOST_LINES ? "Further output was left out." : values.map(described).join(" ");
    host("log", { level, message: message.slice(0, LONGEST_LINE) });
  };

  // ---- events

  const listeners = new Map();

  const addEventListener = (type, listener) => {
    const handle = typeof listener === "function" ? listener : listener?.handleEvent?.bind(listener);
    if (typeof handle !== "function") throw new TypeError("the listener must be a function");
    listeners.set(String(type), [...(listeners.get(String(type)) ?? []), handle]);
  };

  const removeEventListener = (type, listener) => {
    listeners.set(String(type), (listeners.get(String(type)) ?? []).filter((known) => known !== listener));
  };

  const dispatchRequest = (event, environment) => {
    const form = new FormData();
    form.append("event", stringify(event));
    form.append("environment", stringify(environment));
    if (event.type === "fetch" && event.request?.body !== undefined) form.append("fetch-body", event.request.body);
    return new Request("https://integration.invalid/v1", { method: "POST", body: form });
  };

  // listeners for the type of the event take precedence over listeners for `fetch`
  const fromListeners = async (event, request, waitUntil) => {
    const ofType = listeners.get(event.type);
    let response;
    const respondWith = (value) => {
      if (response !== undefined) throw new DOMException("the event has a response already", "InvalidStateError");
      response = value;
    };
    for (const handle of [...(ofType ?? listeners.get("fetch") ?? [])]) {
      const result = handle({ type: ofType ? event.type : "fetch", request, payload: event, respondWith, waitUntil });
      if (ofType && response === undefined) response = (await result) ?? new Response("OK");
      if (response !== undefined) break;
    }
    return response;
  };

  // passes an event to the script; `loaded` is the promise of its exports if it is a module
  const dispatch = async (text, loaded) => {
    try {
      const { event, environment } = parse(text);
      const exported = loaded ? await loaded : undefined;
      const target = exported?.default ?? exported;
      const waiting = [];
      const waitUntil = (promise) => void waiting.push(promise);
      const request = dispatchRequest(event, environment);
      let response;
      if (typeof target?.fetch === "function") {
        response = await target.fetch(request, {}, { waitUntil, passThroughOnException() {} });
      } else if (listeners.size) {
        response = await fromListeners(event, request, waitUntil);
      } else {
        throw new Error("The script handles no events: it must export default { fetch } or listen for fetch.");
      }
      if (!(response instanceof Response)) throw new TypeError("The script did not respond with a Response.");
      const headers = Object.fromEntries([...response.headers]);
      host("respond", { status: response.status, headers, text: await response.text() });
      await Promise.allSettled(waiting);
      host("end", {});
    } catch (error) {
      callHost("fail", stringify({ message: described(error).slice(0, LONGEST_LINE) }));
    }
  };

  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const apis = {
    self: globalThis,
    TextEncoder,
    TextDecoder,
    URL,
    URLSearchParams,
    Headers,
    FormData,
    Request,
    Response,
    fetch,
    crypto,
    addEventListener,
    removeEventListener,
    setTimeout: addTimer(false),
    setInterval: addTimer(true),
    clearTimeout: clearTimer,
    clearInterval: clearTimer,
    console: {
      debug: write("debug"),
      trace: write("debug"),
      log: write("info"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
    },
  };
  for (const name of Object.keys(apis)) define(name, apis[name]);

  return { dispatch, tick, load: () => import("<input>") };
})();
