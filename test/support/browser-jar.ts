import { once } from 'node:events';
import {
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

import { parseSetCookie } from 'cookie';

/** A cookie as a browser stores it: for one host, whatever the port. */
export interface StoredCookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite: 'strict' | 'lax' | 'none';
  readonly maxAge: number | undefined;
  /** The whole `Set-Cookie` value. */
  readonly text: string;
}

/** One response on the way to a page. */
export interface Hop {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

interface Form {
  readonly action: string;
  readonly method: 'GET' | 'POST';
  readonly fields: Readonly<Record<string, string>>;
}

/** The page that a navigation ended at. */
export interface BrowserPage extends Hop {
  readonly body: string;
  /** Every response of the navigation, this one last. */
  readonly hops: readonly Hop[];
  readonly forms: readonly Form[];
}

export interface NavigationOptions {
  /** Stops at the first URL that satisfies this, before requesting it. */
  readonly stopAt?: (url: string) => boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Navigation extends NavigationOptions {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
  /** The page that the navigation began from; absent if the user typed the address. */
  readonly from?: BrowserPage;
}

const MAX_REDIRECTS = 20;

/**
 * A browser without a screen: keeps cookies by the rules (host-only, `__Host-`, Secure, SameSite),
 * follows redirects and `Refresh`, posts forms with the `Origin` that the page's policy allows.
 *
 * Names under `localhost` are this machine. With `tlsPort`, https goes to that port without TLS, as to
 * a gateway behind a balancer that terminates TLS. With `ca`, all names are looked up, and https servers must have a
 * certificate of that authority.
 */
export class BrowserJar {
  readonly #tlsPort: number | undefined;
  readonly #ca: string | undefined;
  readonly #cookies = new Map<string, StoredCookie>();

  constructor({ tlsPort, ca }: { readonly tlsPort?: number; readonly ca?: string } = {}) {
    this.#tlsPort = tlsPort;
    this.#ca = ca;
  }

  get cookies(): readonly StoredCookie[] {
    return [...this.#cookies.values()];
  }

  /** The only cookie of a host with this name. */
  cookie(host: string, name: string): StoredCookie | undefined {
    return this.cookies.find((cookie) => cookie.host === host && cookie.name === name);
  }

  setCookie(url: string, setCookie: string): void {
    this.#store(new URL(url), setCookie);
  }

  deleteCookies(matches: (cookie: StoredCookie) => boolean): void {
    for (const [key, cookie] of this.#cookies) if (matches(cookie)) this.#cookies.delete(key);
  }

  /** Returns an independent copy, like a browser restored from a backup. */
  clone(): BrowserJar {
    const copy = new BrowserJar({
      ...(this.#tlsPort !== undefined && { tlsPort: this.#tlsPort }),
      ...(this.#ca !== undefined && { ca: this.#ca }),
    });
    for (const [key, cookie] of this.#cookies) copy.#cookies.set(key, cookie);
    return copy;
  }

  /** Opens an address that the user typed. */
  open(url: string, options: NavigationOptions = {}): Promise<BrowserPage> {
    return this.#navigate({ method: 'GET', url, ...options });
  }

  /** Follows a link on a page. */
  follow(from: BrowserPage, href: string, options: NavigationOptions = {}): Promise<BrowserPage> {
    return this.#navigate({ method: 'GET', url: new URL(href, from.url).href, from, ...options });
  }

  /** Fills in a page's only form, and sends it. */
  submit(
    from: BrowserPage,
    fields: Readonly<Record<string, string>> = {},
    options: NavigationOptions = {},
  ): Promise<BrowserPage> {
    const form = from.forms[0];
    if (form === undefined) throw new Error(`no form at ${from.url}: ${from.body}`);
    const body = new URLSearchParams({ ...form.fields, ...fields }).toString();
    const url = new URL(form.action, from.url).href;
    if (form.method === 'GET') {
      return this.#navigate({ method: 'GET', url: `${url}?${body}`, from, ...options });
    }
    return this.#navigate({ method: 'POST', url, body, from, ...options });
  }

  async #navigate(navigation: Navigation): Promise<BrowserPage> {
    const hops: Hop[] = [];
    let next = navigation;
    for (;;) {
      if (hops.length > MAX_REDIRECTS) throw new Error(`too many redirects, at ${next.url}`);
      const { hop, body } = await this.#send(next);
      hops.push(hop);
      const page = { ...hop, body, hops, forms: formsOf(body) };
      const following = followUp(page, next);
      if (following === undefined || next.stopAt?.(following.url) === true) return page;
      next = following;
    }
  }

  async #send(navigation: Navigation): Promise<{ hop: Hop; body: string }> {
    const url = new URL(navigation.url);
    const options = {
      path: url.pathname + url.search,
      method: navigation.method,
      headers: { host: url.host, ...this.#headersOf(url, navigation), ...navigation.headers },
      agent: false,
    } as const;
    const outgoing = this.#request(url, options);
    outgoing.end(navigation.body);
    // Node emits `response` with the message as its only argument.
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    for (const setCookie of response.headers['set-cookie'] ?? []) this.#store(url, setCookie);
    const body = await text(response);
    const { statusCode: status = 0, headers } = response;
    return { hop: { url: navigation.url, status, headers }, body };
  }

  #request(url: URL, options: RequestOptions): ClientRequest {
    const isSecure = url.protocol === 'https:';
    if (this.#ca === undefined) {
      const port = (isSecure ? this.#tlsPort : undefined) ?? (url.port || 80);
      return httpRequest({ ...options, host: '127.0.0.1', port });
    }
    const { hostname: host, port } = url;
    if (!isSecure) return httpRequest({ ...options, host, port });
    return httpsRequest({ ...options, host, port, ca: this.#ca });
  }

  #headersOf(url: URL, { method, from, body }: Navigation): Record<string, string> {
    const cookie = this.#cookiesFor(url, method, from)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    return {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-site': fetchSite(url, from),
      'sec-fetch-user': '?1',
      ...(cookie === '' ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(method === 'POST' ? { origin: originHeader(url, from) } : {}),
    };
  }

  /** RFC 6265bis, section 5.8.3, for navigations. */
  #cookiesFor(url: URL, method: string, from: BrowserPage | undefined): readonly StoredCookie[] {
    const isSameSite = from === undefined || siteOf(new URL(from.url)) === siteOf(url);
    return this.cookies.filter(({ host, path, secure, sameSite }) => {
      if (host !== url.hostname || !url.pathname.startsWith(path)) return false;
      if (secure && url.protocol !== 'https:') return false;
      return isSameSite || sameSite === 'none' || (sameSite === 'lax' && method === 'GET');
    });
  }

  #store(url: URL, setCookie: string): void {
    const cookie = acceptCookie(url, setCookie);
    if (cookie === undefined) return;
    const key = `${cookie.host}${cookie.path} ${cookie.name}`;
    if (cookie.maxAge !== undefined && cookie.maxAge <= 0) this.#cookies.delete(key);
    else this.#cookies.set(key, cookie);
  }
}

/** RFC 6265bis, section 5.7; undefined for a cookie that a browser does not accept. */
function acceptCookie(url: URL, text: string): StoredCookie | undefined {
  const { name, value = '', domain, ...attributes } = parseSetCookie(text);
  const maxAge = maxAgeOf(attributes);
  const { path = '/', secure = false, httpOnly = false } = attributes;
  const sameSite = typeof attributes.sameSite === 'string' ? attributes.sameSite : 'lax';
  if (secure && url.protocol !== 'https:') return undefined;
  if (sameSite === 'none' && !secure) return undefined;
  const isHostOnly = secure && path === '/' && domain === undefined;
  if (name.startsWith('__Host-') && !isHostOnly) return undefined;
  return { name, value, host: url.hostname, path, secure, httpOnly, sameSite, maxAge, text };
}

function maxAgeOf({ maxAge, expires }: { maxAge?: number; expires?: Date }): number | undefined {
  return maxAge ?? (expires && Math.round((expires.getTime() - Date.now()) / 1000));
}

/** Returns scheme and registrable domain; under `localhost` every name is a site of its own. */
function siteOf({ protocol, hostname }: URL): string {
  const isAddress = /^[\d.]+$/.test(hostname);
  return `${protocol}//${isAddress ? hostname : hostname.split('.').slice(-2).join('.')}`;
}

/** Fetch Metadata, section 2.3. */
function fetchSite(url: URL, from: BrowserPage | undefined): string {
  if (from === undefined) return 'none';
  const initiator = new URL(from.url);
  if (initiator.origin === url.origin) return 'same-origin';
  return siteOf(initiator) === siteOf(url) ? 'same-site' : 'cross-site';
}

/**
 * Fetch, section 3.2: the origin is `null` for a page with the policy `no-referrer`, and for one with
 * `same-origin` that posts to another origin.
 */
function originHeader(url: URL, from: BrowserPage | undefined): string {
  if (from === undefined) return 'null';
  const { origin } = new URL(from.url);
  const policy = from.headers['referrer-policy'];
  if (policy === 'no-referrer') return 'null';
  return policy === 'same-origin' && origin !== url.origin ? 'null' : origin;
}

function followUp(page: BrowserPage, navigation: Navigation): Navigation | undefined {
  const { location, refresh } = page.headers;
  const { from, headers, stopAt } = navigation;
  const options = {
    method: 'GET',
    ...(headers === undefined ? {} : { headers }),
    ...(stopAt === undefined ? {} : { stopAt }),
  } as const;
  if (page.status >= 300 && page.status < 400 && location !== undefined) {
    // A redirect belongs to the navigation, whose starting page does not change.
    const url = new URL(location, page.url).href;
    return { ...options, url, ...(from === undefined ? {} : { from }) };
  }
  const target = /^0; url=(.*)$/.exec(String(refresh ?? ''))?.[1];
  if (target === undefined) return undefined;
  return { ...options, url: new URL(target, page.url).href, from: page };
}

function formsOf(body: string): readonly Form[] {
  return [...body.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(
    ([, head = '', inner = '']) => {
      const inputs = [...inner.matchAll(/<input\b([^>]*)>/g)].map(([, tag = '']) => tag);
      return {
        action: attribute(head, 'action') ?? '',
        method: attribute(head, 'method')?.toUpperCase() === 'POST' ? 'POST' : 'GET',
        fields: Object.fromEntries(
          inputs.map((tag) => [attribute(tag, 'name') ?? '', attribute(tag, 'value') ?? '']),
        ),
      };
    },
  );
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  return value?.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
}
