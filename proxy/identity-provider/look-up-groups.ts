import { fetchProtectedResource, type Configuration as ProviderClient } from 'openid-client';

import { isRecord } from '../../shared/runtime/is-record.ts';
import type { CompiledIdentityProvider, GroupsLookup } from '../../shared/snapshot/snapshot.ts';
import { member, type JsonObject } from '../json/json-object.ts';
import { groupsInClaims, type SourceClaims } from './groups-in-claims.ts';

/** Far above the number of groups of any user; bounds on time and memory. */
const MAX_PAGES = 50;
const MAX_GROUPS = 20_000;

/** Begins no further page after this time. Each request has a timeout of its own. */
const MAX_MS = 30_000;

/** The groups of a user could not be looked up: this user must not count as one without groups. */
export class GroupsLookupError extends Error {
  override readonly name = 'GroupsLookupError';
}

/**
 * Returns the groups of a user from the look-up of the settings if the provider left them out of the
 * claims; undefined if it did not, or there is no look-up. Rejects with a `GroupsLookupError`.
 *
 * Attack: the address of the look-up is the operator's. The one in the claims is not used, and a next page
 * only at the same origin, because the user's access token is sent there.
 */
export async function lookUpLeftOutGroups(
  client: ProviderClient,
  accessToken: string,
  sources: readonly SourceClaims[],
  { groupsClaim, groupsLookup }: Pick<CompiledIdentityProvider, 'groupsClaim' | 'groupsLookup'>,
): Promise<readonly string[] | undefined> {
  if (groupsLookup === undefined) return undefined;
  if (groupsInClaims(sources, groupsClaim).kind !== 'left-out') return undefined;
  try {
    return await readPages((url) => readPage(client, accessToken, url), groupsLookup);
  } catch (error) {
    throw new GroupsLookupError('the groups could not be looked up', { cause: error });
  }
}

async function readPages(
  read: (url: URL) => Promise<JsonObject>,
  { url, groupsPath, nextPage }: GroupsLookup,
): Promise<readonly string[]> {
  const end = performance.now() + MAX_MS;
  const groups = new Set<string>();
  let next: URL | undefined = new URL(url);
  for (let pages = 0; next !== undefined; pages += 1) {
    if (pages === MAX_PAGES) throw new Error(`there are more than ${String(MAX_PAGES)} pages`);
    if (performance.now() > end) throw new Error('reading the pages takes too long');
    const page = await read(next);
    for (const name of namesAt(page, groupsPath)) groups.add(name);
    if (groups.size > MAX_GROUPS) {
      throw new Error(`there are more than ${String(MAX_GROUPS)} groups`);
    }
    next = nextUrl(member(page, nextPage), next);
  }
  return [...groups];
}

async function readPage(
  client: ProviderClient,
  accessToken: string,
  url: URL,
): Promise<JsonObject> {
  const headers = new Headers({ accept: 'application/json' });
  const response = await fetchProtectedResource(client, accessToken, url, 'GET', null, headers);
  if (response.status !== 200) throw new Error(`HTTP status ${String(response.status)}`);
  // RFC 8288, section 3.3. Without the pages that follow, groups would be missing.
  if (/\brel="?next\b/i.test(response.headers.get('link') ?? '')) {
    throw new Error('the next page is in a Link header, which is not supported');
  }
  const page: unknown = await response.json();
  if (!isRecord(page)) throw new Error('the response is not an object');
  return page;
}

function nextUrl(value: unknown, current: URL): URL | undefined {
  if (value === undefined || value === null) return undefined;
  const next = typeof value === 'string' ? URL.parse(value, current) : null;
  if (next?.origin === current.origin && next.username === '' && next.password === '') return next;
  throw new Error('the next page is not a URL of the same origin');
}

/** Returns the names at a path, which leads through the members of lists. */
function namesAt(value: unknown, [name, ...rest]: readonly string[]): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((each) => namesAt(each, name === undefined ? [] : [name, ...rest]));
  }
  if (name !== undefined && isRecord(value)) return namesAt(member(value, name), rest);
  if (name === undefined && typeof value === 'string' && value !== '') return [value];
  throw new Error('there are no names of groups at the path');
}
