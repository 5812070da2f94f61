import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { connectKubernetes } from '../../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../../controller/kubernetes/kubeconfig-access.ts';
import type { KubernetesApi } from '../../../controller/kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../../controller/kubernetes/objects.ts';
import { writeInsecureKubeconfig } from './write-insecure-kubeconfig.ts';

/** A request as the server received it. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds of an arbitrary clock. */
  readonly at: number;
}

/** Timing of clients: short, because tests wait for their retries. */
export const QUICK_TIMES = { paceMs: 20, shortestBackoffMs: 1, longestBackoffMs: 20 };

/** Answers a request in place of the server; returns false to let the server answer. */
type Intercept = (request: ScriptedRequest, response: ServerResponse) => boolean;

interface Watcher {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

interface HistoryEntry {
  readonly version: number;
  readonly path: string;
  readonly type: string;
  readonly object: KubernetesObject;
}

/**
 * Lists and watches of an API server over HTTP, for what no real server does: each response can be
 * replaced, and each watch can be cut or fall silent. Objects are stored by path and not checked.
 */
export class ScriptedApiServer implements AsyncDisposable {
  readonly requests: ScriptedRequest[] = [];
  intercept: Intercept = () => false;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #history: HistoryEntry[] = [];
  #watchers = new Set<Watcher>();
  #version = 100;
  #oldest = 0;

  /** Starts a server; `api` is a client of it. */
  static async start(): Promise<{ server: ScriptedApiServer; api: KubernetesApi }> {
    const server = new ScriptedApiServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-scripted-'));
    const kubeconfig = join(directory, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, server.url);
    const api = connectKubernetes(kubeconfigAccess(kubeconfig));
    await rm(directory, { recursive: true });
    return { server, api };
  }

  get url(): string {
    // A TCP server has an address of this type.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}`;
  }

  /** Number of open watches. */
  get watchCount(): number {
    return this.#watchers.size;
  }

  /** Watches that began so far. */
  watchesOf(path: string): readonly ScriptedRequest[] {
    return this.requests.filter((request) => request.isWatch && request.path === path);
  }

  listsOf(path: string): readonly ScriptedRequest[] {
    return this.requests.filter((request) => !request.isWatch && request.path === path);
  }

  /** Creates or replaces an object; `collection` is the path of all objects of its namespace. */
  put(collection: string, object: KubernetesObject): void {
    const path = `${collection}/${object.metadata.name}`;
    const type = this.#objects.has(path) ? 'MODIFIED' : 'ADDED';
    this.#objects.set(path, this.#happen(type, path, object));
  }

  remove(collection: string, name: string): void {
    const path = `${collection}/${name}`;
    const object = this.#objects.get(path);
    if (object === undefined) throw new Error(`${path} does not exist`);
    this.#objects.delete(path);
    this.#happen('DELETED', path, object);
  }

  /** Changes objects without an event, like a watch that loses events. */
  unseen(change: () => void): void {
    const watchers = this.#watchers;
    this.#watchers = new Set();
    change();
    this.#watchers = watchers;
  }

  /** Sends a bookmark to all watches. */
  bookmark(): void {
    this.#version += 1;
    const object = { metadata: { resourceVersion: String(this.#version) } };
    for (const watcher of this.#watchers) {
      watcher.response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    }
  }

  /** Writes data to all watches unchanged. */
  writeToWatches(data: string | Buffer): void {
    for (const { response } of this.#watchers) response.write(data);
  }

  /** Forgets the history: watches cannot begin before now. */
  compact(): void {
    this.#version += 1;
    this.#oldest = this.#version;
    this.#history.length = 0;
  }

  /** Breaks the connections of all watches. */
  cutWatches(): void {
    for (const { response } of this.#watchers) response.destroy();
  }

  /** Ends all watches, as at their timeout. */
  endWatches(): void {
    for (const { response } of this.#watchers) response.end();
  }

  /** Keeps all watches open, and sends them nothing more. */
  silenceWatches(): void {
    this.#watchers.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #happen(type: string, path: string, object: KubernetesObject): KubernetesObject {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion } };
    const entry = { version: this.#version, path, type, object: stored };
    this.#history.push(entry);
    for (const watcher of this.#watchers) tell(watcher, entry);
    return stored;
  }

  async #take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '', 'http://localhost');
    const request: ScriptedRequest = {
      method: message.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      isWatch: url.searchParams.get('watch') === 'true',
      headers: message.headers,
      body: await text(message),
      at: performance.now(),
    };
    this.requests.push(request);
    if (this.intercept(request, response)) return;
    if (request.isWatch) this.#watch(request, response);
    else this.#list(request, response);
  }

  #list({ path, query }: ScriptedRequest, response: ServerResponse): void {
    const entries = [...this.#objects].filter(([each]) => isIn(each, path, query));
    const items = entries.map(([, object]) => object);
    const from = Number(query.get('continue') ?? 0);
    const to = from + Number(query.get('limit') ?? items.length);
    const metadata = {
      resourceVersion: String(this.#version),
      ...(to < items.length && { continue: String(to) }),
    };
    answerJson(response, 200, { kind: 'List', metadata, items: items.slice(from, to) });
  }

  #watch({ path, query }: ScriptedRequest, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion'));
    if (from < this.#oldest) {
      answerStatus(response, 410, 'Expired');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watcher = { path, query, response };
    this.#watchers.add(watcher);
    response.once('close', () => this.#watchers.delete(watcher));
    for (const entry of this.#history) if (entry.version > from) tell(watcher, entry);
  }
}

/** Sends a JSON response. */
export function answerJson(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Sends a `Status`. */
export function answerStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  message = `it is ${reason}`,
): void {
  answerJson(response, code, { kind: 'Status', apiVersion: 'v1', code, reason, message });
}

function tell({ path, query, response }: Watcher, entry: HistoryEntry): void {
  if (!isIn(entry.path, path, query)) return;
  response.write(`${JSON.stringify({ type: entry.type, object: entry.object })}\n`);
}

/** Whether an object is in a collection: of one namespace or all, of one name or all. */
function isIn(path: string, collection: string, query: URLSearchParams): boolean {
  const name = query.get('fieldSelector')?.replace('metadata.name=', '');
  if (name !== undefined && !path.endsWith(`/${name}`)) return false;
  const withoutNamespace = path.replace(/\/namespaces\/[^/]+\/(?=[^/]+\/)/, '/');
  return path.startsWith(`${collection}/`) || withoutNamespace.startsWith(`${collection}/`);
}
