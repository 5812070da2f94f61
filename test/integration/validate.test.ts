import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runInProcess } from '../support/command-line.ts';
import { PUBLIC_LINE, publicRoute } from '../support/plain-route.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const EXAMPLES = join(import.meta.dirname, '../../crds/examples');

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

describe('gatehouse validate', () => {
  test('prints every problem of every file, and exits with 1', async () => {
    const routes = [publicRoute('good', 8080, 'http://up'), publicRoute('bad', 8081, '5')];
    await directory.write('a.yaml', routes.join('---\n'));
    await directory.write('b.yaml', 'kind: Route\nkind: Route\n');
    await directory.write(
      'c.yaml',
      'cookie_expiry: 1h\nroutes:\n  - to: http://up\n    prefix: x\n',
    );

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        /a\.yaml:16 \(document 2\) Route default\/bad: spec\.to: must .* \[InvalidSpec\]$/,
      ),
      expect.stringMatching(
        /b\.yaml:2 \(document 1\) Map keys must be unique \[InvalidManifest\]$/,
      ),
      expect.stringMatching(
        /c\.yaml:1 \(document 1\) GatewaySettings default\/gatehouse: cookie_expiry: unknown key "cookie_expiry", did you mean "cookie_expiration"\? \[InvalidSpec\]$/,
      ),
      expect.stringMatching(/c\.yaml:3 .* routes\[0\]\.from: is required \[InvalidSpec\]$/),
      expect.stringMatching(
        /c\.yaml:4 .* routes\[0\]\.prefix: must begin with "\/" \[InvalidSpec\]$/,
      ),
      `${directory.path}: 5 problems`,
    ]);
    expect(code).toBe(1);
  });

  test('exits with 0 if there is no problem', async () => {
    await directory.write('a.yaml', publicRoute('a', 8080, 'http://up'));

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toBe(`${directory.path}: no problems (1 Route)\n`);
    expect(code).toBe(0);
  });

  test('notes an MCP route on the host of a web route, unless there is an authenticateUrl', async () => {
    const configuration = [
      'identity_providers: { idp: { issuer: "https://idp.example.com", client_id: gatehouse } }',
      'routes:',
      '  - { name: tools, from: "https://app.example.com", prefix: /mcp, to: "http://tools", mcp: { server: {} }, allow_any_authenticated_user: true }',
      '  - { name: app, from: "https://app.example.com", to: "http://app", allow_any_authenticated_user: true }',
      '  - { name: other, from: "https://other.example.com", to: "http://tools", mcp: { server: {} }, allow_any_authenticated_user: true }',
      '',
    ].join('\n');
    await directory.write('gatehouse.yaml', configuration);
    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);
    expect(stdout.split('\n')).toEqual([
      `${directory.path}: note: Route default/tools: web routes have the same host, so their scripts have the origin of the consent page, or of the callback of users who connect; use a host of its own, or, if no user connects there, set authenticate_url`,
      expect.stringContaining('no problems (3 Routes'),
      '',
    ]);
    expect(code).toBe(0);

    const apart = `authenticate_url: https://sign-in.example.com\n${configuration}`;
    await directory.write('gatehouse.yaml', apart);
    const again = await runInProcess(['validate', '-f', directory.path]);
    expect(again.stdout).not.toContain('note:');
  });

  test('accepts a reference to a Service, and notes that it was not checked', async () => {
    await directory.write('a.yaml', routeToService('name: app, port: 80'));

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toBe(
      `${directory.path}: note: backendRefs of 1 Route not checked: Services exist only in Kubernetes\n` +
        `${directory.path}: no problems (1 Route)\n`,
    );
    expect(code).toBe(0);
  });

  test('accepts the ServiceAccounts of a cluster, and notes that they were not checked', async () => {
    const provider = { name: 'cluster', issuerUrl: 'kubernetes:///', audiences: ['gateway'] };
    const settings = manifest('GatewaySettings', 'gatehouse', { identityProviders: [provider] });
    await directory.write('a.yaml', JSON.stringify(settings));

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toBe(
      `${directory.path}: note: identity provider cluster not checked: ServiceAccounts exist only in Kubernetes\n` +
        `${directory.path}: no problems (GatewaySettings)\n`,
    );
    expect(code).toBe(0);
  });

  test('notes a route that permits nobody, in the words of its form', async () => {
    const { from, to } = { from: 'https://app.example.com', to: 'http://app:8000' };
    const route = { name: 'app', from, to, policy: { deny: { or: [{ email: 'a@b.c' }] } } };
    const idp = { issuer: 'https://idp.example.com', client_id: 'gatehouse' };
    const plain = { identity_providers: { idp }, routes: [route] };
    await directory.write('a.yaml', JSON.stringify(plain));
    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toContain(
      'note: Route default/app permits nobody: it has no policy.allow, nor allow_any_authenticated_user or allow_public_unauthenticated_access\n',
    );
    expect(code).toBe(0);

    const open = { ...route, policy: undefined, allow_any_authenticated_user: true };
    await directory.write('a.yaml', JSON.stringify({ ...plain, routes: [open] }));
    expect((await runInProcess(['validate', '-f', directory.path])).stdout).not.toContain('nobody');
  });

  test('notes sub-paths of an MCP server that are not inspected', async () => {
    const subPaths = '[{ path: /sse }, { path: /files, inspected: false }]';
    await directory.write(
      'a.yaml',
      [
        'identity_providers: { idp: { issuer: "https://idp.example.com", client_id: gatehouse } }',
        'routes:',
        '  - name: tools',
        '    from: https://tools.example.com',
        '    prefix: /mcp',
        '    to: http://tools:8000',
        `    mcp: { server: { sub_paths: ${subPaths} } }`,
      ].join('\n'),
    );

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toContain(
      `${directory.path}: note: Route default/tools: requests to /mcp/files are not inspected, and mcp_tool does not cover them\n`,
    );
    expect(stdout).not.toContain('/sse');
    expect(code).toBe(0);
  });

  test('names a field in a note as manifests spell it, if the settings are one', async () => {
    const from = 'https://app.example.com';
    const users = { from, allowAnyAuthenticatedUser: true };
    const identityProviders = [
      {
        ...{ name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' },
        clientSecretRef: { name: 'idp', key: 'secret' },
      },
    ];
    const metadata = { name: 'idp', labels: { 'gatehouse.dev/referable': 'true' } };
    const manifests = [
      manifest('GatewaySettings', 'gatehouse', { identityProviders }),
      manifest('Route', 'web', { ...users, to: 'http://app:8000' }),
      manifest('Route', 'tools', {
        ...{ ...users, to: 'http://tools:8000' },
        ...{ prefix: '/mcp', mcp: { server: {} } },
      }),
      { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { secret: 'x' } },
    ];
    const text = manifests.map((document) => JSON.stringify(document)).join('\n---\n');
    await directory.write('a.yaml', text);

    const { stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toContain(
      'use a host of its own, or, if no user connects there, set authenticateUrl',
    );
  });

  test('reports a reference that cannot be a Service', async () => {
    await directory.write('a.yaml', routeToService('kind: Bucket, name: app, port: 80'));

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout).toContain('spec.backendRefs[0]: must be a Service of the core group');
    expect(code).toBe(1);
  });

  test('accepts the examples of the definitions', async () => {
    const { code, stdout } = await runInProcess(['validate', '-f', EXAMPLES]);

    expect(stdout).toContain('no problems');
    expect(code).toBe(0);
  });

  test('accepts plain http on loopback with the development flag only', async () => {
    const route = publicRoute('a', 8080, 'http://up').replace(PUBLIC_LINE, 'mcp: { server: {} }');
    await directory.write('a.yaml', route);
    await directory.write(
      's.yaml',
      `apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: { name: gatehouse }
spec: { identityProviders: [{ name: corp, issuerUrl: http://localhost:1, clientId: x }] }`,
    );
    const argv = ['validate', '-f', directory.path];

    expect((await runInProcess(argv)).code).toBe(1);
    expect((await runInProcess([...argv, '--dev-allow-loopback'])).code).toBe(0);
  });

  test('names the environment variable that has an invalid value', async () => {
    await directory.write('a.yaml', publicRoute('a', 8080, 'http://up'));
    const variables = { COOKIE_EXPIRATION: 'soon' };

    const { code, stdout } = await runInProcess(['validate', '-f', directory.path], variables);

    expect(stdout).toMatch(
      /^environment GatewaySettings default\/gatehouse: COOKIE_EXPIRATION: must/,
    );
    expect(code).toBe(1);
  });
});

describe('the command line', () => {
  test.each([
    { argv: ['validate'], code: 2, message: '--file FILE|DIR is required' },
    { argv: ['validate', '-f', '/nowhere.yaml'], code: 1, message: 'cannot read /nowhere.yaml' },
    {
      argv: ['policy'],
      code: 2,
      message: 'unknown command "policy", did you mean policy te',
    },
    { argv: ['vlidate'], code: 2, message: 'unknown command "vlidate", did you mean validate?' },
    { argv: ['run', '--lisen', ':1'], code: 2, message: 'did you mean --listen?' },
    { argv: [], code: 2, message: 'a command is missing' },
  ])('exits with $code for "gatehouse $argv"', async ({ argv, code, message }) => {
    const result = await runInProcess(argv);

    expect(result.stderr).toContain(message);
    expect(result.code).toBe(code);
  });

  test.each([
    { argv: ['--help'], output: 'Usage: gatehouse COMMAND' },
    { argv: ['help', 'run'], output: '--config FILE|DIR  (required, GATEHOUSE_CONFIG)' },
    { argv: ['policy', '--help'], output: '  policy test  ' },
    { argv: ['help', 'sessions'], output: '  sessions revoke  ' },
    { argv: ['sessions', 'list', '--help'], output: 'Usage: gatehouse sessions list [FLAGS]' },
    { argv: ['validate', '--help'], output: '-f, --file FILE|DIR' },
    { argv: ['--version'], output: 'gatehouse 0.' },
  ])('prints the requested help or version of "gatehouse $argv"', async ({ argv, output }) => {
    const result = await runInProcess(argv);

    expect(result.stdout).toContain(output);
    expect(result.code).toBe(0);
  });
});

function routeToService(reference: string): string {
  return publicRoute('a', 8080, '').replace('to: ', `backendRefs: [{ ${reference} }]`);
}

function manifest(kind: string, name: string, spec: object): object {
  return { apiVersion: 'gatehouse.dev/v1alpha1', kind, metadata: { name }, spec };
}
