import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runInProcess } from '../../support/command-line.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

describe('gatehouse explain on an MCP route with the format jwt', () => {
  const SERVICE_ACCOUNT = ['--user', 'system:serviceaccount:agents:triage'];
  const CLUSTER = 'https://kubernetes.default.svc.cluster.local';
  const COMPANY = 'https://login.example.com';
  const PROVIDERS = {
    company: { issuer: COMPANY, client_id: 'gatehouse' },
    cluster: { issuer: 'kubernetes:///', audiences: ['gatehouse'] },
  };

  async function explain(
    identity_providers: object,
    argv: readonly string[],
  ): ReturnType<typeof runInProcess> {
    const route = {
      ...{ name: 'app', from: 'https://app.example.com', to: 'http://app' },
      ...{ mcp: { server: {} }, bearer_token_format: 'jwt' },
      policy: { allow: { or: [{ 'claim/iss': { in: [CLUSTER, COMPANY] } }] } },
    };
    const plain = JSON.stringify({ identity_providers, routes: [route] });
    const file = await directory.write('gatehouse.yaml', plain);
    return runInProcess(['explain', '-f', file, ...argv]);
  }

  test.each([
    { argv: ['--email', 'alice@example.com'], iss: COMPANY, provider: 'company' },
    { argv: SERVICE_ACCOUNT, iss: CLUSTER, provider: 'cluster' },
  ])('explains users of $provider', async ({ argv, iss, provider }) => {
    const { stdout } = await explain(PROVIDERS, [...argv, '--claim', `iss=${iss}`]);

    expect(stdout).toMatch(/^allow: claim-ok\n/);
    expect(stdout).toContain(` of ${provider},`);
  });

  test('asks of which provider the user is, if there are several', async () => {
    const { code, stdout, stderr } = await explain(PROVIDERS, SERVICE_ACCOUNT);

    expect(stderr).toBe(
      `gatehouse: the users of the route are those of cluster (kubernetes:///), company (${COMPANY}): ` +
        'say which by the claim "iss"\n',
    );
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  test('knows the issuer of the only provider, but not that of a cluster', async () => {
    const { stdout } = await explain({ company: { ...PROVIDERS.company, audiences: ['a'] } }, [
      '--email',
      'alice@example.com',
    ]);
    expect(stdout).toMatch(/^allow: claim-ok\n/);

    const { cluster } = PROVIDERS;
    const ofCluster = await explain({ cluster }, SERVICE_ACCOUNT);
    expect(ofCluster.stdout).toMatch(/^deny: claim-unauthorized /);
    expect(ofCluster.stdout).toContain(' of cluster,');
  });

  test('refuses users of an issuer that counts nowhere', async () => {
    const { company } = PROVIDERS;
    const ci = { issuer: 'https://ci.example.com', audiences: ['gatehouse'] };
    const argv = [...SERVICE_ACCOUNT, '--claim', `iss=${COMPANY}/`];
    const { code, stdout } = await explain({ company, ci }, argv);

    expect(stdout).toMatch(/^deny: unknown-issuer \(status 401, /);
    expect(code).toBe(3);
  });
});

test('gatehouse explain takes no user of another provider on a route with one', async () => {
  const company = { issuer: 'https://login.example.com', client_id: 'gatehouse' };
  const route = {
    ...{ name: 'app', from: 'https://app.example.com', to: 'http://app' },
    allow_any_authenticated_user: true,
  };
  const plain = JSON.stringify({ identity_providers: { company }, routes: [route] });
  const file = await directory.write('gatehouse.yaml', plain);
  const argv = ['explain', '-f', file, '--user', 'a', '--claim'];

  const { code, stderr } = await runInProcess([...argv, 'iss=https://other.example.com']);
  expect(stderr).toMatch(/ those of company \(.*\): the claim "iss" names another\n$/);
  expect(code).toBe(1);

  const same = await runInProcess([...argv, `iss=${company.issuer}`]);
  expect(same.code).toBe(0);
});
