import { describe, expect, it } from '@jest/globals';

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { connectKubernetes } from '../../../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../../../controller/kubernetes/kubeconfig-access.ts';
import {
  KubernetesApiError,
  type WatchEvent,
} from '../../../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import { eventually } from '../../../support/eventually.ts';
import { writeInsecureKubeconfig } from '../../../support/kubernetes/write-insecure-kubeconfig.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';
import {
  ROUTES_PATH,
  api,
  directory,
  identity,
  server,
  startSecureServer,
  writeKubeconfig,
} from './connect-kubernetes-world.ts';

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

  it('rejects an event that is not UTF-8 instead of replacing characters', async () => {
    const { events, ended, opened } = begin(new AbortController().signal);
    await eventually('the watch is open', () => opened() === 1);
    const line = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'grüße' } } });
    server.writeToWatches(Buffer.from(`${line}\n`, 'latin1'));
    await expect(ended).rejects.toThrow('a line is not UTF-8');
    expect(events).toEqual([]);
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
    expect(kubeconfigAccess(kubeconfig).namespace).toBe('gatehouse');
  });

  it('must exist and be valid, and errors do not quote it', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    expect(() => kubeconfigAccess(kubeconfig)).toThrow(`${kubeconfig}: ENOENT`);
    await writeFile(kubeconfig, 'users: [token: s3cret\n');
    expect(() => kubeconfigAccess(kubeconfig)).toThrow('it is not a kubeconfig');
    expect(() => kubeconfigAccess(kubeconfig)).not.toThrow('s3cret');
    await writeFile(kubeconfig, stringify({ clusters: [], users: [], contexts: [] }));
    expect(() => kubeconfigAccess(kubeconfig)).toThrow('no cluster');
  });

  it('must ask for a connection without TLS explicitly', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeKubeconfig(kubeconfig, { server: server.url });
    expect(() => kubeconfigAccess(kubeconfig)).toThrow('HTTP protocol is not allowed');
  });

  it('names the authorities to trust, and may change them', async () => {
    const [authority, next] = [createThrowawayAuthority(), createThrowawayAuthority()];
    await using secure = await startSecureServer(authority);
    const kubeconfig = join(directory, 'kubeconfig');
    const caFile = join(directory, 'ca.crt');
    await writeFile(caFile, next.ca);
    await writeKubeconfig(kubeconfig, { server: secure.url, 'certificate-authority': caFile });
    const client = connectKubernetes(kubeconfigAccess(kubeconfig));
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
