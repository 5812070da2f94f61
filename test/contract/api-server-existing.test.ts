import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { CarefulRequest } from '../support/kubernetes/existing/careful-request.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { openForAll } from '../support/open-for-all.ts';

const SECRETS = '/api/v1/namespaces/default/secrets';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

function secret(name: string): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name } };
}

describe('tests on a shared cluster', () => {
  const cluster = openForAll(startFakeCluster);
  let careful: CarefulRequest;

  beforeAll(async () => {
    await cluster().admin.request('POST', SECRETS, secret('theirs'));
  });
  beforeEach(() => {
    careful = new CarefulRequest(async (...asked) => await cluster().admin.request(...asked));
  });

  test.each([
    ['delete', 'DELETE', `${SECRETS}/theirs`],
    ['replace', 'PUT', `${SECRETS}/theirs`],
    ['apply to', 'PATCH', `${SECRETS}/theirs?fieldManager=test`],
    ['delete the namespace of', 'DELETE', '/api/v1/namespaces/default'],
    ['delete the collection of', 'DELETE', SECRETS],
  ] as const)('do not %s existing objects', async (_what, method, path) => {
    await expect(careful.send(method, path, secret('theirs'), APPLY)).rejects.toThrow(
      'was not created by the tests',
    );
    expect(await cluster().admin.request('GET', `${SECRETS}/theirs`)).toMatchObject(
      secret('theirs'),
    );
  });

  test('change the objects that they created, and delete them in the end', async () => {
    await careful.send('POST', SECRETS, secret('created'));
    await careful.send('PATCH', `${SECRETS}/applied?fieldManager=test`, secret('applied'), APPLY);
    await careful.send('PATCH', `${SECRETS}/applied?fieldManager=test`, secret('applied'), APPLY);
    await careful.send('POST', '/api/v1/namespaces', { metadata: { name: 'made' } });
    await careful.send('POST', '/api/v1/namespaces/made/secrets', secret('within'));
    await careful.send('DELETE', '/api/v1/namespaces/made/secrets/within');
    await careful[Symbol.asyncDispose]();

    const { items } = (await cluster().admin.request('GET', '/api/v1/secrets')) as {
      readonly items: readonly object[];
    };
    expect(items).toMatchObject([{ metadata: { name: 'theirs' } }]);
    await expect(cluster().admin.request('GET', '/api/v1/namespaces/made')).rejects.toMatchObject({
      code: 404,
    });
  });
});
