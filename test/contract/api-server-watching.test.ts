import { beforeEach, describe, expect, test } from '@jest/globals';

import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { openWatch, type OpenWatch, type WatchLine } from '../support/kubernetes/open-watch.ts';
import { coreIn, routesIn } from '../support/kubernetes/paths.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute } from '../support/resources.ts';

/** The members of a list that these tests read. */
interface List {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

describeWithClusters([], 'an API server', (openCluster) => {
  const cluster = openForAll(openCluster);
  let namespace: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
  });

  async function createRoute(name: string): Promise<void> {
    await cluster().admin.request('POST', routesIn(namespace), aRoute({}, { name, namespace }));
  }

  async function patchRoute(name: string, patch: object, subresource = ''): Promise<void> {
    await cluster().admin.request('PATCH', `${routesIn(namespace)}/${name}${subresource}`, patch, {
      'content-type': 'application/merge-patch+json',
    });
  }

  async function deleteRoute(name: string): Promise<void> {
    await cluster().admin.request('DELETE', `${routesIn(namespace)}/${name}`);
  }

  async function list(query = '', path = routesIn(namespace)): Promise<List> {
    return (await cluster().admin.request('GET', `${path}?${query}`)) as List;
  }

  /** Begins a watch of the namespace's Routes that the server ends soon. */
  async function watch(query: string, path = routesIn(namespace)): Promise<OpenWatch> {
    return await openWatch(cluster().adminKubeconfig, `${path}?watch=1&timeoutSeconds=20&${query}`);
  }

  describe('a list', () => {
    test('returns objects in pages', async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      for (const name of names) await createRoute(name);

      const pages: List[] = [await list('limit=2')];
      for (let token = pages[0]?.metadata.continue; token;) {
        const page = await list(`limit=2&continue=${encodeURIComponent(token)}`);
        pages.push(page);
        token = page.metadata.continue;
      }

      expect(pages.map((page) => page.items.map(nameOf))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
      expect(pages.map(({ kind }) => kind)).toEqual(['RouteList', 'RouteList', 'RouteList']);
      expect(new Set(pages.map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
    });

    test('returns later pages as of the first, and the changes since in a watch', async () => {
      for (const name of ['a', 'c']) await createRoute(name);
      const { metadata } = await list('limit=1');
      await createRoute('b');
      const rest = await list(`limit=1&continue=${encodeURIComponent(metadata.continue ?? '')}`);
      await using lines = await watch(`resourceVersion=${rest.metadata.resourceVersion}`);

      expect(rest.items.map(nameOf)).toEqual(['c']);
      expect(await lines.next()).toMatchObject({
        type: 'ADDED',
        object: { metadata: { name: 'b' } },
      });
    });

    test('rejects an invalid continue token', async () => {
      await expect(list('limit=1&continue=nonsense')).rejects.toMatchObject({ code: 400 });
    });

    test('returns objects of all namespaces', async () => {
      await createRoute('everywhere');
      const { items } = await list('', routesIn());

      expect(items).toContainEqual(
        expect.objectContaining({
          metadata: expect.objectContaining({ name: 'everywhere', namespace }) as unknown,
        }),
      );
    });

    test('returns objects of any age, at a version to watch from', async () => {
      await createRoute('a');
      const { metadata } = await list('resourceVersion=0');

      expect(metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    });

    test('returns the one object that a field selector names', async () => {
      for (const name of ['a', 'b']) await createRoute(name);
      const { items } = await list('fieldSelector=metadata.name%3Da');

      expect(items.map(nameOf)).toEqual(['a']);
    });

    test('returns objects by label', async () => {
      for (const name of ['a', 'b']) await createRoute(name);
      await patchRoute('b', { metadata: { labels: { team: 'blue' } } });
      const { items } = await list('labelSelector=team%3Dblue');

      expect(items.map(nameOf)).toEqual(['b']);
    });
  });

  describe('a watch', () => {
    test('reports every change since a version, in order', async () => {
      const { metadata } = await list();
      await createRoute('a');
      await patchRoute('a', { spec: { prefix: '/a' } });
      await patchRoute('a', { status: { url: 'https://app.example.com/a' } }, '/status');
      await deleteRoute('a');
      await using lines = await watch(`resourceVersion=${metadata.resourceVersion}`);
      const changes = await take(lines, 4);

      expect(changes.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED']);
      expect(changes[1]).toMatchObject({ object: { spec: { prefix: '/a' } } });
      expect(changes[3]).toMatchObject({
        object: { kind: 'Route', apiVersion: 'gatehouse.dev/v1alpha1', metadata: { name: 'a' } },
      });
      expect(new Set(changes.map(versionOf)).size).toBe(4);
    });

    test('reports changes while it lasts', async () => {
      const { metadata } = await list();
      await using lines = await watch(`resourceVersion=${metadata.resourceVersion}`);
      await createRoute('a');
      await deleteRoute('a');

      expect((await take(lines, 2)).map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
    });

    test('continues from the version of any event', async () => {
      const { metadata } = await list();
      for (const name of ['a', 'b', 'c']) await createRoute(name);
      await using first = await watch(`resourceVersion=${metadata.resourceVersion}`);
      const [, second] = await take(first, 2);
      await using resumed = await watch(`resourceVersion=${versionOf(second)}`);

      expect(await resumed.next()).toMatchObject({ object: { metadata: { name: 'c' } } });
    });

    test('continues from the version of a deletion', async () => {
      await createRoute('a');
      const { metadata } = await list();
      await deleteRoute('a');
      await createRoute('b');
      await using first = await watch(`resourceVersion=${metadata.resourceVersion}`);
      const deletion = await first.next();
      await using resumed = await watch(`resourceVersion=${versionOf(deletion)}`);

      expect(deletion).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } });
      expect(await resumed.next()).toMatchObject({ object: { metadata: { name: 'b' } } });
    });

    test('reports no event for an update that changes nothing', async () => {
      await createRoute('a');
      const { metadata } = await list();
      await patchRoute('a', { spec: { to: aRoute().spec.to } });
      await createRoute('b');
      await using lines = await watch(`resourceVersion=${metadata.resourceVersion}`);

      expect(await lines.next()).toMatchObject({ object: { metadata: { name: 'b' } } });
    });

    test('reports the one object that a field selector names', async () => {
      const secrets = coreIn(namespace, 'secrets');
      const { metadata } = await list('', secrets);
      for (const name of ['a', 'b']) {
        await cluster().admin.request('POST', secrets, { metadata: { name } });
      }
      await using lines = await watch(
        `resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3Db`,
        secrets,
      );

      expect(await lines.next()).toMatchObject({ object: { metadata: { name: 'b' } } });
    });

    test('reports only the requested namespace', async () => {
      const other = await createNamespace(cluster());
      const { metadata } = await list();
      await cluster().admin.request(
        'POST',
        routesIn(other),
        aRoute({}, { name: 'other', namespace: other }),
      );
      await createRoute('own');
      await using lines = await watch(`resourceVersion=${metadata.resourceVersion}`);

      expect(await lines.next()).toMatchObject({ object: { metadata: { name: 'own' } } });
    });

    test('sends a bookmark before its timeout, past changes elsewhere', async () => {
      const other = await createNamespace(cluster());
      const { metadata } = await list();
      const query = `resourceVersion=${metadata.resourceVersion}&allowWatchBookmarks=true`;
      await using lines = await openWatch(
        cluster().adminKubeconfig,
        `${routesIn(namespace)}?watch=1&timeoutSeconds=5&${query}`,
      );
      const elsewhere = (await cluster().admin.request(
        'POST',
        routesIn(other),
        aRoute({}, { name: 'other', namespace: other }),
      )) as WatchLine['object'];
      const all = await takeAll(lines);

      expect(new Set(all.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
      expect(all.at(-1)?.object).toMatchObject({
        kind: 'Route',
        apiVersion: 'gatehouse.dev/v1alpha1',
      });
      expect(Number(versionOf(all.at(-1)))).toBeGreaterThanOrEqual(
        Number(elsewhere.metadata.resourceVersion),
      );
    });

    test('does not start from a version that is too old', async () => {
      await createRoute('a');
      // Other clusters keep no history from before their start.
      if (cluster().capabilities.faults) cluster().faults.compact();

      expect(await refusalOf(watch('resourceVersion=1'))).toEqual({
        code: 410,
        reason: 'Expired',
      });
    });
  });
});

/** The error that a watch fails with: the status of the response, or its first line. */
async function refusalOf(opening: Promise<OpenWatch>): Promise<unknown> {
  try {
    await using lines = await opening;
    const line = await lines.next();
    return { code: line?.object.code, reason: line?.object.reason };
  } catch (error) {
    const { code, reason } = error as { readonly code: unknown; readonly reason: unknown };
    return { code, reason };
  }
}

async function take(lines: OpenWatch, count: number): Promise<readonly WatchLine[]> {
  const taken: WatchLine[] = [];
  while (taken.length < count) {
    const line = await lines.next();
    if (line === undefined) throw new Error(`the watch ended after ${String(taken.length)} lines`);
    taken.push(line);
  }
  return taken;
}

async function takeAll(lines: OpenWatch): Promise<readonly WatchLine[]> {
  const taken: WatchLine[] = [];
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    taken.push(line);
  }
  return taken;
}

function nameOf({ metadata }: { readonly metadata: { readonly name: string } }): string {
  return metadata.name;
}

function versionOf(line: WatchLine | undefined): string {
  return line?.object.metadata.resourceVersion ?? 'none';
}
