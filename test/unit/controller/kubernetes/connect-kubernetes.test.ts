import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import { connectKubernetes } from '../../../../controller/kubernetes/connect-kubernetes.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
  type WatchEvent,
} from '../../../../controller/kubernetes/kubernetes-api.ts';
import { ownNamespace } from '../../../../controller/kubernetes/load-kubeconfig.ts';
import {
  LEASES,
  ROUTES,
  SECRETS,
  SERVICES,
  TOKEN_REVIEWS,
} from '../../../../controller/kubernetes/resource-types.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import {
  answerJson,
  answerStatus,
  ScriptedApiServer,
} from '../../../support/kubernetes/scripted-api-server.ts';
import { writeInsecureKubeconfig } from '../../../support/kubernetes/write-insecure-kubeconfig.ts';
import {
  createThrowawayAuthority,
  type ThrowawayAuthority,
} from '../../../support/throwaway-authority.ts';

const ROUTES_PATH = '/apis/gatehouse.dev/v1alpha1/namespaces/apps/routes';

let server: ScriptedApiServer;
let api: KubernetesApi;
let directory: string;

beforeEach(async () => {
  ({ server, api } = await ScriptedApiServer.start());
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-kubernetes-'));
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

describe('requests to the API server', () => {
  it('list page by page, and add apiVersion and kind to each item', async () => {
    for (const name of ['a', 'b', 'c']) {
      server.put('/api/v1/namespaces/apps/services', { metadata: { name, namespace: 'apps' } });
    }
    const first = await api.list(SERVICES, {}, { limit: 2 });
    const rest = await api.list(SERVICES, {}, { limit: 2, continueAt: first.continueAt ?? '' });
    expect([...first.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(first.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'Service' });
    expect(rest.continueAt).toBeUndefined();
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v1/services',
      '/api/v1/services',
    ]);
  });

  it('select one object of a list by field selector', async () => {
    await api.list(SECRETS, { namespace: 'gatehouse', name: 'keys' });
    const [request] = server.requests;
    expect(request?.path).toBe('/api/v1/namespaces/gatehouse/secrets');
    expect(request?.query.get('fieldSelector')).toBe('metadata.name=keys');
  });

  it('carry the credentials', async () => {
    await api.list(SECRETS, {});
    expect(server.requests[0]?.headers.authorization).toBe('Bearer token-of-a-test');
  });

  it('apply a status as the field manager gatehouse, forced', async () => {
    server.intercept = (_request, response) => {
      answerJson(response, 200, { metadata: { name: 'files', resourceVersion: '7' } });
      return true;
    };
    const applied = await api.applyStatus(
      ROUTES,
      { namespace: 'apps', name: 'files' },
      { url: 'https://files.example.com' },
    );
    expect(applied.metadata.resourceVersion).toBe('7');
    const [request] = server.requests;
    expect(request?.method).toBe('PATCH');
    expect(request?.path).toBe(`${ROUTES_PATH}/files/status`);
    expect(Object.fromEntries(request?.query ?? [])).toEqual({
      fieldManager: 'gatehouse',
      force: 'true',
    });
    expect(request?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      apiVersion: 'gatehouse.dev/v1alpha1',
      kind: 'Route',
      metadata: { namespace: 'apps', name: 'files' },
      status: { url: 'https://files.example.com' },
    });
  });

  it.each<[string, string, () => Promise<unknown>]>([
    [
      'POST',
      '/apis/coordination.k8s.io/v1/namespaces/gatehouse/leases',
      () => api.create(LEASES, 'gatehouse', { spec: {} }),
    ],
    [
      'POST',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      () => api.create(TOKEN_REVIEWS, undefined, { spec: {} }),
    ],
    [
      'PUT',
      '/apis/coordination.k8s.io/v1/namespaces/gatehouse/leases/it',
      () => api.replace(LEASES, { namespace: 'gatehouse', name: 'it' }, { spec: {} }),
    ],
    [
      'GET',
      '/apis/coordination.k8s.io/v1/namespaces/a%2Fb/leases/..%3Fx',
      () => api.get(LEASES, { namespace: 'a/b', name: '..?x' }),
    ],
  ])('send %s to %s', async (method, path, send) => {
    server.intercept = (_request, response) => {
      answerJson(response, 200, { metadata: {}, status: { authenticated: true } });
      return true;
    };
    await expect(send()).resolves.toMatchObject({ status: { authenticated: true } });
    expect(server.requests[0]).toMatchObject({ method, path });
    expect(server.requests[0]?.body).toBe(method === 'GET' ? '' : '{"spec":{}}');
  });

  it.each(['..', '.', ''])('are not sent for an object named "%s"', async (name) => {
    await expect(api.get(SECRETS, { namespace: 'apps', name })).rejects.toThrow('invalid name');
    expect(server.requests).toEqual([]);
  });

  it('reject with code, reason and message when the server refuses', async () => {
    server.intercept = (_request, response) => {
      response.setHeader('retry-after', '7');
      answerStatus(response, 429, 'TooManyRequests', 'slow down');
      return true;
    };
    const error: unknown = await api.get(SECRETS, { namespace: 'a', name: 'b' }).catch(identity);
    expect(error).toBeInstanceOf(KubernetesApiError);
    expect(error).toMatchObject({ code: 429, reason: 'TooManyRequests', retryAfter: 7 });
    expect(String(error)).toContain('slow down');
  });

  it('reject with the status of an intermediate proxy, and do not quote its body', async () => {
    server.intercept = (_request, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>secret page</h1>');
      return true;
    };
    const error: unknown = await api.list(SECRETS, {}).catch(identity);
    expect(error).toMatchObject({ code: 502, reason: '', retryAfter: undefined });
    expect(String(error)).not.toContain('secret page');
  });

  it.each([
    'not JSON at all',
    '{"metadata":{}}',
    '[]',
    '{"metadata":{"resourceVersion":"1"},"items":[7]}',
  ])('reject a list that is %s, and do not quote it', async (body) => {
    server.intercept = (_request, response) => {
      response.end(body);
      return true;
    };
    const error: unknown = await api.list(SECRETS, {}).catch(identity);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(KubernetesApiError);
    expect(String(error)).not.toContain(body);
  });

  it('reject with another error when nothing responds', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, `http://127.0.0.1:${String(await freePort())}`);
    const error: unknown = await connectKubernetes({ kubeconfig }).list(ROUTES, {}).catch(identity);
    expect(String(error)).toContain('ECONNREFUSED');
    expect(error).not.toBeInstanceOf(KubernetesApiError);
  });

  it('reject after the request timeout', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, server.url);
    server.intercept = (_request, response) => {
      response.write('{');
      return true;
    };
    const impatient = connectKubernetes({ kubeconfig, requestTimeoutMs: 100 });
    await expect(impatient.list(ROUTES, {})).rejects.toThrow('timeout');
  });
});

describe('a watch', () => {
  const begin = (
    signal: AbortSignal,
  ): { readonly events: WatchEvent[]; readonly ended: Promise<void>; opened: () => number } => {
    const events: WatchEvent[] = [];
    let openings = 0;
    const options = { resourceVersion: '42', timeoutSeconds: 300, signal };
    const onOpen = (): void => void (openings += 1);
    const run = async (): Promise<void> => {
      const watch = api.watch(ROUTES, { namespace: 'apps' }, { ...options, onOpen });
      for await (const event of watch) events.push(event);
    };
    return { events, ended: run(), opened: () => openings };
  };

  it('requests bookmarks, a version to start from, and a timeout', async () => {
    const ending = new AbortController();
    const { ended, opened } = begin(ending.signal);
    await eventually('the watch is open', () => opened() === 1);
    expect(server.requests[0]?.path).toBe(ROUTES_PATH);
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '42',
      timeoutSeconds: '300',
    });
    ending.abort();
    await ended;
  });

  it('reads events wherever chunks are cut, even within a character', async () => {
    const ending = new AbortController();
    const { events, ended, opened } = begin(ending.signal);
    await eventually('the watch is open', () => opened() === 1);
    const name = 'grüße-🚪';
    const line = JSON.stringify({ type: 'ADDED', object: { metadata: { name } } });
    for (const byte of Buffer.from(`${line}\n${line}\n`)) {
      server.writeToWatches(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await eventually('both events', () => events.length === 2);
    expect(events).toEqual(Array(2).fill({ type: 'ADDED', object: { metadata: { name } } }));
    ending.abort();
    await ended;
  });

  it('reports an error in the stream with its code', async () => {
    const { events, ended, opened } = begin(new AbortController().signal);
    await eventually('the watch is open', () => opened() === 1);
    const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    server.writeToWatches(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    await eventually('the event', () => events.length === 1);
    expect(events[0]).toMatchObject({ type: 'ERROR', error: { code: 410, reason: 'Expired' } });
    server.endWatches();
    await ended;
  });

  it('rejects when the server refuses it, and when its connection breaks', async () => {
    const { ended, opened } = begin(new AbortController().signal);
    await eventually('the watch is open', () => opened() === 1);
    server.cutWatches();
    await expect(ended).rejects.not.toBeInstanceOf(KubernetesApiError);
    server.compact();
    await expect(begin(new AbortController().signal).ended).rejects.toMatchObject({ code: 410 });
  });

  it('rejects a line that is not a watch event, and does not quote it', async () => {
    for (const line of ['{"type":"ADDED","object":', '{"type":"ADDED","object":{"token":"x"}}']) {
      const { ended, opened } = begin(new AbortController().signal);
      await eventually('the watch is open', () => opened() === 1);
      server.writeToWatches(`${line}\n`);
      const error: unknown = await ended.catch(identity);
      expect(error).toBeInstanceOf(Error);
      expect(String(error)).not.toContain('"object"');
    }
  });

  it('ends when it is aborted, even before the server responds', async () => {
    server.intercept = () => true;
    const ending = new AbortController();
    const { ended } = begin(ending.signal);
    await eventually('the request is there', () => server.requests.length === 1);
    ending.abort();
    await expect(ended).resolves.toBeUndefined();
  });
});

describe('the kubeconfig', () => {
  it('names the namespace of this process', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, server.url);
    expect(ownNamespace({ kubeconfig })).toBe('gatehouse');
  });

  it('must exist and be valid, and errors do not quote it', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    expect(() => connectKubernetes({ kubeconfig })).toThrow(`${kubeconfig}: ENOENT`);
    await writeFile(kubeconfig, 'users: [token: s3cret\n');
    expect(() => connectKubernetes({ kubeconfig })).toThrow('it is not a kubeconfig');
    expect(() => connectKubernetes({ kubeconfig })).not.toThrow('s3cret');
    await writeFile(kubeconfig, stringify({ clusters: [], users: [], contexts: [] }));
    expect(() => connectKubernetes({ kubeconfig })).toThrow('no cluster');
  });

  it('must ask for a connection without TLS explicitly', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeKubeconfig(kubeconfig, { server: server.url });
    expect(() => connectKubernetes({ kubeconfig })).toThrow('HTTP protocol is not allowed');
  });

  it('names the authorities to trust, and may change them', async () => {
    const [authority, next] = [createThrowawayAuthority(), createThrowawayAuthority()];
    await using secure = await startSecureServer(authority);
    const kubeconfig = join(directory, 'kubeconfig');
    const caFile = join(directory, 'ca.crt');
    await writeFile(caFile, next.ca);
    await writeKubeconfig(kubeconfig, { server: secure.url, 'certificate-authority': caFile });
    const client = connectKubernetes({ kubeconfig });
    await expect(client.list(ROUTES, {})).rejects.toThrow(/certificate/);
    await writeFile(caFile, authority.ca);
    await expect(client.list(ROUTES, {})).resolves.toMatchObject({ resourceVersion: '1' });
    for (let times = 0; times < 5; times += 1) await client.list(ROUTES, {});
    // One is not always free in time for the next request.
    expect(secure.connections()).toBeLessThan(4);
    await writeFile(caFile, next.ca);
    await expect(client.list(ROUTES, {})).rejects.toThrow(/certificate/);
  });
});

interface SecureServer extends AsyncDisposable {
  readonly url: string;
  readonly connections: () => number;
}

async function startSecureServer(authority: ThrowawayAuthority): Promise<SecureServer> {
  let connections = 0;
  const secure: Server = createServer(authority.issue(['127.0.0.1']), (_request, response) => {
    answerJson(response, 200, { metadata: { resourceVersion: '1' }, items: [] });
  });
  secure.on('secureConnection', () => (connections += 1));
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  // A TCP server's address is one.
  const { port } = secure.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${String(port)}`,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      secure.closeAllConnections();
      secure.close();
      await once(secure, 'close');
    },
  };
}

async function writeKubeconfig(path: string, cluster: object): Promise<void> {
  const config = {
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  await writeFile(path, stringify(config));
}

function identity(error: unknown): unknown {
  return error;
}
