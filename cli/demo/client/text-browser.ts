import { findButtons, findTitle, type Button } from './html-forms.ts';

const MAX_REDIRECTS = 20;

/** A page that the browser arrived at. */
export interface VisitedPage {
  readonly url: URL;
  readonly title: string;
  readonly buttons: readonly Button[];
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

  async #visit(start: URL, firstRequest: RequestInit): Promise<VisitedPage> {
    let url = start;
    let request = firstRequest;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await this.#request(url, request);
      const location = response.headers.get('location');
      if (location === null) return readPage(url, response);
      await response.body?.cancel();
      url = new URL(location, url);
      request = { method: 'GET' };
    }
    throw new Error(`more than ${String(MAX_REDIRECTS)} redirects`);
  }

  async #request(url: URL, request: RequestInit): Promise<Response> {
    const jar = this.#cookies.get(url.hostname) ?? new Map<string, string>();
    this.#cookies.set(url.hostname, jar);
    const headers = new Headers({
      accept: 'text/html',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      cookie: [...jar].map((pair) => pair.join('=')).join('; '),
    });
    if (request.method === 'POST') headers.set('origin', url.origin);
    const response = await fetch(url, { ...request, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) keepCookie(jar, cookie);
    return response;
  }
}

async function readPage(url: URL, response: Response): Promise<VisitedPage> {
  const markup = await response.text();
  const title = findTitle(markup);
  if (!response.ok) {
    throw new Error(`${url.origin} responds with ${String(response.status)}: ${title}`);
  }
  return { url, title, buttons: findButtons(markup) };
}

function keepCookie(jar: Map<string, string>, header: string): void {
  const [, name, value] = /^([^=;]+)=([^;]*)/.exec(header) ?? [];
  if (name === undefined || value === undefined) return;
  const isOver =
    /;\s*max-age=(?:0|-\d+)/i.test(header) || /;\s*expires=\w+, 01 jan 1970/i.test(header);
  if (isOver) jar.delete(name);
  else jar.set(name, value);
}
