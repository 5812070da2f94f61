import { decodeText } from '../../shared/runtime/decode-text.ts';
import { readLines } from '../../shared/runtime/read-lines.ts';
import { ApiConnection, type ApiRequest } from './api-connection.ts';
import { apiPath } from './api-path.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { KubernetesApi, ResourceType, Scope, WatchEvent } from './kubernetes-api.ts';
import { parseClusterIssuer } from './parse-cluster-issuer.ts';
import { parseObject, parsePage, parseWatchEvent } from './parse-objects.ts';
import { readApiError } from './parse-api-error.ts';
import { apiVersionOf } from './resource-types.ts';

/** Timeout of every request except watches, including the body of the response. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The longest event of a watch: far larger than any object that an API server stores. */
const LONGEST_EVENT_BYTES = 32 * 1024 * 1024;

/** Where an API server serves discovery and the keys of ServiceAccount tokens. */
const DISCOVERY_PATH = '/.well-known/openid-configuration';
const KEY_SET_PATH = '/openid/v1/jwks';

/** The field manager of server-side apply. */
const FIELD_MANAGER = 'gatehouse';

/** How to use an API server. */
interface ConnectOptions {
  readonly requestTimeoutMs?: number;
  /** Names the program in the audit log of the API server. */
  readonly userAgent?: string;
}

/**
 * Connects to an API server. Does not contact it before the first request. Unused connections do not
 * keep the process alive.
 */
export function connectKubernetes(
  access: ClusterAccess,
  { requestTimeoutMs = REQUEST_TIMEOUT_MS, userAgent = 'gatehouse' }: ConnectOptions = {},
): KubernetesApi {
  const connection = new ApiConnection(access, userAgent);
  const request = (
    method: ApiRequest['method'],
    path: string,
    content: Partial<Pick<ApiRequest, 'body' | 'contentType' | 'accept' | 'signal'>> = {},
  ): Promise<unknown> => {
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const signal = content.signal ? AbortSignal.any([content.signal, timeout]) : timeout;
    return sendForJson(connection, { ...content, method, path, signal });
  };
  const requestObject = async (
    method: ApiRequest['method'],
    path: string,
    object?: object,
  ): Promise<ReturnType<typeof parseObject>> =>
    parseObject(await request(method, path, object && json(object)), describe(method, path));
  return {
    list: async (type, scope, page = {}) => {
      const path = `${collectionPath(type, scope)}?${String(listQuery(scope, page))}`;
      const response = await request('GET', path, page.signal && { signal: page.signal });
      return parsePage(response, type, describe('GET', collectionPath(type, scope)));
    },
    watch: (type, scope, options) => watch(connection, { type, scope }, options),
    get: async (type, place) => requestObject('GET', apiPath(type, place)),
    create: async (type, namespace, object) =>
      requestObject('POST', apiPath(type, namespace === undefined ? {} : { namespace }), object),
    replace: async (type, place, object) => requestObject('PUT', apiPath(type, place), object),
    applyStatus: async (type, place, status) => {
      const { namespace, name } = place;
      const path = apiPath(type, { namespace, name, subresource: 'status' });
      const query = `?fieldManager=${FIELD_MANAGER}&force=true`;
      const body = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: place, status };
      // JSON is valid YAML; server-side apply has no other content type.
      const contentType = 'application/apply-patch+yaml';
      const response = await request('PATCH', path + query, {
        body: JSON.stringify(body),
        contentType,
      });
      return parseObject(response, describe('PATCH', path));
    },
    readIssuer: async (signal) => {
      const [discovery, keySet, { headers }] = await Promise.all([
        request('GET', DISCOVERY_PATH, { signal }),
        // It is served with no other media type (RFC 7517, section 8.5).
        request('GET', KEY_SET_PATH, { signal, accept: 'application/jwk-set+json' }),
        access.credentials(),
      ]);
      const [, ownToken] = /^bearer +(.*)$/i.exec(headers['authorization'] ?? '') ?? [];
      return parseClusterIssuer({ discovery, keySet, ownToken });
    },
  };
}

async function sendForJson(connection: ApiConnection, request: ApiRequest): Promise<unknown> {
  const response = await connection.send(request);
  const description = describe(request.method, request.path);
  if (response.statusCode >= 300) throw await readApiError(response, description);
  const decoded = decodeText(Buffer.from(await response.body.arrayBuffer()));
  if (decoded.kind === 'invalid') throw new Error(`${description}: the response is not UTF-8`);
  try {
    return JSON.parse(decoded.text);
  } catch {
    // The error of the parser quotes the body, which may be a Secret.
    throw new Error(`${description}: the response is not JSON`);
  }
}

async function* watch(
  connection: ApiConnection,
  { type, scope }: { readonly type: ResourceType; readonly scope: Scope },
  { resourceVersion, timeoutSeconds, signal, onOpen }: Parameters<KubernetesApi['watch']>[2],
): AsyncGenerator<WatchEvent, void> {
  const query = queryOf(scope, {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  });
  const path = collectionPath(type, scope);
  const description = describe('WATCH', path);
  try {
    const response = await connection.send({
      method: 'GET',
      path: `${path}?${String(query)}`,
      signal,
    });
    if (response.statusCode >= 300) throw await readApiError(response, description);
    onOpen?.();
    for await (const line of readLines(response.body, LONGEST_EVENT_BYTES))
      yield parseWatchEvent(line, description);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function listQuery(
  scope: Scope,
  page: NonNullable<Parameters<KubernetesApi['list']>[2]>,
): URLSearchParams {
  const { limit, continueAt, resourceVersion } = page;
  return queryOf(scope, {
    ...(limit !== undefined && { limit: String(limit) }),
    ...(continueAt !== undefined && { continue: continueAt }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  });
}

function queryOf({ name }: Scope, others: Readonly<Record<string, string>>): URLSearchParams {
  return new URLSearchParams({
    ...others,
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
  });
}

/** Returns the path of a collection, for one object too: it is watched with a field selector. */
function collectionPath(type: ResourceType, { namespace }: Scope): string {
  return apiPath(type, namespace === undefined ? {} : { namespace });
}

function json(object: object): Pick<ApiRequest, 'body' | 'contentType'> {
  return { body: JSON.stringify(object), contentType: 'application/json' };
}

/** Describes a request for error messages. */
function describe(method: string, path: string): string {
  return `${method} ${path.replace(/\?.*/, '')}`;
}
