import { startUpstream, type Upstream } from './upstream.ts';
import type { TestIdentityProvider } from './identity-provider.ts';

/** A response of the endpoint; by default 200 with a body of JSON. */
export interface GroupsAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An endpoint that lists the groups of a user in pages, as Microsoft Graph does. */
export interface GroupsEndpoint extends AsyncDisposable {
  /** URL of the first page. */
  readonly url: string;
  readonly upstream: Upstream;
  /** Groups of every user. */
  groups: readonly string[];
  /** Sent in place of a page. */
  answer: GroupsAnswer | undefined;
}

const PAGE_LENGTH = 2;

/** Starts an endpoint that answers requests with an access token of the provider. */
export async function startGroupsEndpoint(
  provider: Pick<TestIdentityProvider, 'issuer'>,
): Promise<GroupsEndpoint> {
  const upstream = await startUpstream((message, response) => {
    void hasToken(message.headers.authorization, provider).then((isAllowed) => {
      const url = new URL(message.url ?? '/', upstream.origin);
      const { status = 200, headers, body } = isAllowed ? answerTo(url) : { status: 401 };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
    });
  });
  const answerTo = (url: URL): GroupsAnswer => {
    if (endpoint.answer !== undefined) return endpoint.answer;
    const begin = Number(url.searchParams.get('skip') ?? '0');
    const value = endpoint.groups.slice(begin, begin + PAGE_LENGTH).map((id) => ({ id }));
    const end = begin + PAGE_LENGTH;
    const next = `${upstream.origin}/me/groups?skip=${String(end)}`;
    return { body: { value, ...(end < endpoint.groups.length && { '@odata.nextLink': next }) } };
  };
  const endpoint: GroupsEndpoint = {
    url: `${upstream.origin}/me/groups?$select=id`,
    upstream,
    groups: [],
    answer: undefined,
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
  return endpoint;
}

/** Returns whether the provider issued this token, for the user whose groups are requested. */
async function hasToken(
  authorization: string | undefined,
  { issuer }: Pick<TestIdentityProvider, 'issuer'>,
): Promise<boolean> {
  if (authorization === undefined) return false;
  const { ok } = await fetch(`${issuer}/me`, { headers: { authorization } });
  return ok;
}
