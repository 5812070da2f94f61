import type { Collection, Stored } from './collection.ts';
import { apiVersionOf } from './resource-definition.ts';
import type { Selector } from './selectors.ts';
import { badRequest, expired, StatusError } from './status-error.ts';
import type { Store } from './store.ts';

export interface ListOptions {
  readonly selects: Selector;
  /** Whether a selector may leave out objects; then the number of remaining objects is unknown. */
  readonly isSelective: boolean;
  readonly query: URLSearchParams;
}

/** The place where the next page begins. */
interface ContinueToken {
  readonly revision: number;
  readonly from: number;
}

/** The text of a page of objects. */
export function listText(store: Store, collection: Collection, options: ListOptions): string {
  const { selects, isSelective, query } = options;
  const limit = limitOf(query);
  const token = query.get('continue') ?? '';
  const current = store.revisions.current;
  assertKnown(query.get('resourceVersion') ?? '', current);
  const { revision, from } = token === '' ? { revision: current, from: 0 } : readToken(token);
  const all = token === '' ? collection.all() : collection.snapshotAt(revision);
  if (all === undefined) throw expired(TOKEN_TOO_OLD);

  const page: Stored[] = [];
  let next = from;
  for (; next < all.length && page.length < limit; next += 1) {
    const stored = all[next];
    if (stored !== undefined && selects(stored.object)) page.push(stored);
  }
  const isMore = next < all.length;
  if (isMore && token === '') collection.keepSnapshot();
  const metadata = {
    resourceVersion: String(revision),
    ...(isMore && { continue: writeToken({ revision, from: next }) }),
    ...(isMore && !isSelective && { remainingItemCount: all.length - next }),
  };
  return listOf(collection, page, metadata);
}

/** The text of a list of objects, composed of their texts. */
export function listOf(
  { definition }: Collection,
  items: readonly Stored[],
  metadata: object,
): string {
  const head = JSON.stringify({
    kind: `${definition.kind}List`,
    apiVersion: apiVersionOf(definition),
    metadata,
  });
  return `${head.slice(0, -1)},"items":[${items.map(({ text }) => text).join(',')}]}\n`;
}

/** Lists of any age come from a cache, which has no pages. */
function limitOf(query: URLSearchParams): number {
  const text = query.get('limit') ?? '0';
  if (!/^\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  const limit = Number(text);
  const isFromCache = query.get('resourceVersion') === '0' && !query.has('continue');
  return limit === 0 || isFromCache ? Infinity : limit;
}

function assertKnown(resourceVersion: string, current: number): void {
  const wanted = versionOf(resourceVersion);
  if (wanted === undefined || wanted <= current) return;
  const message = `Too large resource version: ${resourceVersion}, current: ${String(current)}`;
  throw new StatusError(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** Parses a `resourceVersion`; undefined if none is given. */
export function versionOf(text: string): number | undefined {
  if (text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw badRequest(`invalid resource version: ${JSON.stringify(text)}: invalid syntax`);
}

const TOKEN_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.';

function writeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function readToken(text: string): ContinueToken {
  const [, revision, from] =
    /^\{"revision":(\d+),"from":(\d+)\}$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (revision === undefined || from === undefined) {
    throw badRequest('invalid continue token: continue key is not valid');
  }
  return { revision: Number(revision), from: Number(from) };
}
