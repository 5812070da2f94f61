import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

import { findButtons, findTitle, type Button } from './html-forms.ts';

const MAX_REDIRECTS = 20;

/** A page that the browser arrived at. */
export interface VisitedPage {
  readonly url: URL;
  readonly title: string;
  /** The markup. */
  readonly body: string;
  readonly buttons: readonly Button[];
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface PageRequest {
  readonly method: string;
  readonly body?: URLSearchParams;
}

/** A browser without a screen: follows redirects, keeps cookies, presses buttons. */
export class TextBrowser {
  /** By host name: cookies are shared by all ports (RFC 6265, section 8.5). */
  readonly #cookies = new Map<string, Map<string, string>>();

  open(url: URL): Promise<VisitedPage> {
    return this.#visit(url, { method: 'GET' });
  }

  press(page: VisitedPage, { method, action, fields }: Button): Promise<VisitedPage> {
    const url = new URL(action, page.url);
    if (method === 'POST') return this.#visit(url, { method, body: fields });
    url.search = fields.toString();
    return this.#visit(url, { method });
  }

  async #visit(start: URL, firstRequest: PageRequest): Promise<VisitedPage> {
    let url = start;
    let request = firstRequest;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await this.#request(url, request);
      const { location } = answer.headers;
      if (location === undefined) return readPage(url, answer);
      url = new URL(location, url);
      request = { method: 'GET' };
    }
    throw new Error(`more than ${String(MAX_REDIRECTS)} redirects`);
  }

  async #request(url: URL, { method, body }: PageRequest): Promise<Answer> {
    const jar = this.#cookies.get(url.hostname) ?? new Map<string, string>();
    this.#cookies.set(url.hostname, jar);
    const headers = {
      accept: 'text/html',
      // `fetch` would say that a script sends the request, and the gateway takes no form from one.
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      cookie: [...jar].map((pair) => pair.join('=')).join('; '),
      ...(method === 'POST' && {
        origin: url.origin,
        'sec-fetch-site': 'same-origin',
        'sec-fetch-user': '?1',
        'content-type': 'application/x-www-form-urlencoded',
      }),
    };
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = send(url, { method, headers });
    outgoing.end(body?.toString());
    // Node emits `response` with the message as its only argument.
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    for (const cookie of response.headers['set-cookie'] ?? []) keepCookie(jar, cookie);
    const { statusCode: status = 0 } = response;
    return { status, headers: response.headers, body: await text(response) };
  }
}

function readPage(url: URL, { status, body }: Answer): VisitedPage {
  const title = findTitle(body);
  if (status !== 200) {
    throw new Error(`${url.origin} responds with ${String(status)}: ${title}`);
  }
  return { url, title, body, buttons: findButtons(body) };
}

function keepCookie(jar: Map<string, string>, header: string): void {
  const [, name, value] = /^([^=;]+)=([^;]*)/.exec(header) ?? [];
  if (name === undefined || value === undefined) return;
  const isOver =
    /;\s*max-age=(?:0|-\d+)/i.test(header) || /;\s*expires=\w+, 01 jan 1970/i.test(header);
  if (isOver) jar.delete(name);
  else jar.set(name, value);
}
