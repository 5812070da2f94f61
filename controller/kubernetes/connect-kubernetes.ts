import { readLines } from '../../shared/runtime/read-lines.ts';
import { ApiConnection, type ApiRequest } from './api-connection.ts';
import { apiPath } from './api-path.ts';
import type { KubernetesApi, ResourceType, Scope, WatchEvent } from './kubernetes-api.ts';
import { loadKubeconfig } from './load-kubeconfig.ts';
import { parseObject, parsePage, parseWatchEvent } from './parse-objects.ts';
import { readRefusal } from './read-refusal.ts';

/** Of everything but a watch, with the body of the answer. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Of one event of a watch: far above what an API server stores in one object. */
const LONGEST_EVENT_BYTES = 32 * 1024 * 1024;

/** Owner of the fields that we write by server-side apply. */
const FIELD_MANAGER = 'gatehouse';

/**
 * The API server of a kubeconfig, or of the cluster we run in.
 *
 * Throws when there is no such configuration; whether the server answers shows with the first
 * request. Unused connections do not keep the process alive.
 */
export function connectKubernetes({
  kubeconfig,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
}: {
  readonly kubeconfig?: string;
  readonly requestTimeoutMs?: number;
}): KubernetesApi {
  const connection = new ApiConnection(loadKubeconfig(kubeconfig));
  const ask = (
    method: ApiRequest['method'],
    path: string,
    content: Pick<ApiRequest, 'body' | 'contentType'> & { readonly signal?: AbortSignal } = {},
  ): Promise<unknown> => {
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const signal = content.signal ? AbortSignal.any([content.signal, timeout]) : timeout;
    return sendForJson(connection, { ...content, method, path, signal });
  };
  const askForObject = async (
    method: ApiRequest['method'],
    path: string,
    object?: object,
  ): Promise<ReturnType<typeof parseObject>> =>
    parseObject(await ask(method, path, object && json(object)), describe(method, path));
  return {
    list: async (type, scope, page = {}) => {
      const path = `${collectionPath(type, scope)}?${String(listQuery(scope, page))}`;
      const answer = await ask('GET', path, page.signal && { signal: page.signal });
      return parsePage(answer, type, describe('GET', collectionPath(type, scope)));
    },
    watch: (type, scope, options) => watch(connection, { type, scope }, options),
    get: async (type, place) => askForObject('GET', apiPath(type, place)),
    create: async (type, namespace, object) =>
      askForObject('POST', apiPath(type, namespace === undefined ? {} : { namespace }), object),
    replace: async (type, place, object) => askForObject('PUT', apiPath(type, place), object),
    applyStatus: async (type, place, status) => {
      const { namespace, name } = place;
      const path = apiPath(type, { namespace, name, subresource: 'status' });
      const query = `?fieldManager=${FIELD_MANAGER}&force=true`;
      const body = { ...typeMeta(type), metadata: place, status };
      // JSON is YAML; the API server knows server-side apply by no other content type.
      const contentType = 'application/apply-patch+yaml';
      const answer = await ask('PATCH', path + query, { body: JSON.stringify(body), contentType });
      return parseObject(answer, describe('PATCH', path));
    },
  };
}

async function sendForJson(connection: ApiConnection, request: ApiRequest): Promise<unknown> {
  const response = await connection.send(request);
  const what = describe(request.method, request.path);
  if (response.statusCode >= 300) throw await readRefusal(response, what);
  const text = await response.body.text();
  try {
    return JSON.parse(text);
  } catch {
    // The error of the parser quotes the body, and that may be a Secret.
    throw new Error(`${what}: the answer is no JSON`);
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
  const what = describe('WATCH', path);
  try {
    const response = await connection.send({
      method: 'GET',
      path: `${path}?${String(query)}`,
      signal,
    });
    if (response.statusCode >= 300) throw await readRefusal(response, what);
    onOpen?.();
    for await (const line of readLines(response.body, LONGEST_EVENT_BYTES))
      yield parseWatchEvent(line, what);
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

/** One of a name is a collection too: only that can be watched, with a field selector. */
function collectionPath(type: ResourceType, { namespace }: Scope): string {
  return apiPath(type, namespace === undefined ? {} : { namespace });
}

function typeMeta({ group, version, kind }: ResourceType): object {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

function json(object: object): Pick<ApiRequest, 'body' | 'contentType'> {
  return { body: JSON.stringify(object), contentType: 'application/json' };
}

/** A request in an error message. */
function describe(method: string, path: string): string {
  return `${method} ${path.replace(/\?.*/, '')}`;
}
