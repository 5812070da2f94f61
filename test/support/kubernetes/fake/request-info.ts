import { selectedName } from './selectors.ts';

/** The attributes of a request that authorization checks. */
export interface RequestInfo {
  readonly group: string;
  readonly version: string;
  readonly verb: Verb;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for all namespaces, and for resources without namespaces. */
  readonly namespace: string;
  /** Empty for collections, unless a list selects one name. */
  readonly name: string;
  readonly query: URLSearchParams;
}

export type Verb =
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Parses a path below `/api` or `/apis`; undefined if it is not about a resource. */
export function requestInfoOf(method: string, url: URL): RequestInfo | undefined {
  const [root, ...segments] = url.pathname.split('/').slice(1).map(decodeURIComponent);
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : segments.shift();
  const version = segments.shift();
  const place = placeOf(segments);
  if (group === undefined || version === undefined || place === undefined) return undefined;
  const query = url.searchParams;
  const verb = verbOf(method, place.name !== '', query);
  const name =
    place.name === '' ? (selectedName(query.get('fieldSelector') ?? '') ?? '') : place.name;
  return { group, version, verb, query, ...place, name };
}

type Place = Pick<RequestInfo, 'resource' | 'subresource' | 'namespace' | 'name'>;

function placeOf(segments: readonly string[]): Place | undefined {
  const [first, second = '', third, ...rest] = segments;
  if (first === undefined || segments.some((segment) => segment === '')) return undefined;
  const isWithin = first === 'namespaces' && third !== undefined && !NAMESPACE_PARTS.has(third);
  if (isWithin) {
    const [name = '', subresource = ''] = rest;
    return { resource: third, namespace: second, name, subresource };
  }
  // For a namespace, this is both its name and the namespace that bindings have to be in.
  const namespace = first === 'namespaces' ? second : '';
  return { resource: first, namespace, name: second, subresource: third ?? '' };
}

const NAMESPACE_PARTS: ReadonlySet<string> = new Set(['status', 'finalize']);

function verbOf(method: string, isNamed: boolean, query: URLSearchParams): Verb {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      if (isNamed) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
  }
}

export function isTrue(flag: string | null): boolean {
  return flag === 'true' || flag === '1';
}
