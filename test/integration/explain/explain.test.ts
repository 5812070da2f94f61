import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runInProcess } from '../../support/command-line.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

const EXAMPLES = join(import.meta.dirname, '../../../crds/examples');
const INVOICES = ['explain', '-f', EXAMPLES, '--route', 'finance/invoices'];
const TIME = ['--time', '2026-11-22T09:00:00Z'];

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

/** The report of `--output json`. */
async function reportOf(
  argv: readonly string[],
): Promise<{ readonly code: number | null; readonly report: Readonly<Record<string, unknown>> }> {
  const { code, stdout } = await runInProcess([...argv, '--output', 'json']);
  // The output is one JSON object.
  return { code, report: JSON.parse(stdout) as Record<string, unknown> };
}

describe('gatehouse explain', () => {
  test('exits with 0 for a request that is permitted, and shows the record of the log', async () => {
    const bob = ['--user', 'bob', '--email', 'bob@example.com', '--groups', 'staff,operators'];
    const call = ['--tool', 'delete_invoice', '--arguments', '{"number":7}'];
    const { code, report } = await reportOf([...INVOICES, ...bob, ...call, ...TIME]);

    expect(code).toBe(0);
    expect(report).toEqual({
      decision: 'allow',
      reasons: ['domain-ok', 'mcp-tool-ok'],
      request: {
        ...{ method: 'POST', host: 'invoices.example.com', target: '/mcp' },
        ...{ clientAddress: '127.0.0.1', time: '2026-11-22T09:00:00.000Z' },
        message: {
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'delete_invoice', arguments: { number: 7 } },
        },
      },
      route: {
        ...{ name: 'finance/invoices', kind: 'mcp', from: 'https://invoices.example.com' },
        ...{ host: 'exact', path: { kind: 'prefix', value: '/mcp' } },
      },
      user: expect.objectContaining({
        ...{ provider: 'company', subject: 'bob', email: 'bob@example.com' },
        groups: ['staff', 'operators'],
      }) as unknown,
      policy: {
        allow: {
          result: true,
          groups: [
            {
              ...{ group: 'or', result: true },
              criteria: [
                {
                  ...{ criterion: 'domain', operand: { is: 'example.com' }, value: 'example.com' },
                  ...{ result: true, satisfied: true, reason: 'domain-ok' },
                },
              ],
            },
          ],
        },
        deny: {
          result: false,
          groups: [
            {
              ...{ group: 'and', result: false },
              criteria: [
                expect.objectContaining({ criterion: 'mcp_tool', value: 'delete_invoice' }),
                {
                  ...{ criterion: 'groups', operand: { not_in: ['operators'] } },
                  ...{ value: ['staff', 'operators'], result: false, satisfied: false },
                  reason: 'groups-unauthorized',
                },
              ],
            },
          ],
        },
      },
      log: [
        expect.objectContaining({
          ...{ message: 'authorize check', time: '2026-11-22T09:00:00.000Z', user: 'bob' },
          ...{ allow: true, 'allow-why-true': ['domain-ok', 'mcp-tool-ok'] },
        }),
      ],
    });
  });

  test('exits with 3 for a request that is denied', async () => {
    const { code, report } = await reportOf([
      ...[...INVOICES, '--email', 'eve@example.com'],
      ...['--tool', 'delete_invoice'],
    ]);

    expect(code).toBe(3);
    expect(report).toMatchObject({
      decision: 'deny',
      reasons: ['mcp-tool-unauthorized', 'groups-ok'],
      answer: { status: 200, reason: 'mcp-tool-unauthorized' },
      user: { subject: 'eve@example.com' },
    });
  });

  test('shows the challenge for a request without a user, which is refused with 401', async () => {
    const { code, stdout } = await runInProcess(INVOICES);

    expect(code).toBe(3);
    expect(stdout).toMatch(/^deny: .*\(status 401, .*\)\nWWW-Authenticate: Bearer resource_metad/);
    expect(stdout).toContain('user     none known\n');
  });

  test('logs as `gatehouse run` does', async () => {
    const { report } = await reportOf(['explain', '-f', EXAMPLES, '--url', 'https://nowhere/']);

    expect(report['log']).toEqual([
      expect.objectContaining({ service: 'gatehouse', reason: 'route-not-found' }),
    ]);
  });

  test.each([
    { url: 'https://elsewhere.example.com/', status: 421, reason: 'route-not-found' },
    { url: 'https://invoices.example.com/mcp/other', status: 404, reason: 'route-not-found' },
    { url: 'https://files.example.com/a/../b', status: 400, reason: 'dot-segment' },
  ])('explains why $url reaches no upstream', async ({ url, status, reason }) => {
    const user = ['--email', 'alice@example.com'];
    const { code, report } = await reportOf(['explain', '-f', EXAMPLES, '--url', url, ...user]);

    expect(code).toBe(3);
    expect(report).toMatchObject({ decision: 'deny', reasons: [reason], answer: { status } });
  });

  test('explains no failure after the decision, such as a Service without targets', async () => {
    const argv = ['explain', '-f', EXAMPLES, '--route', 'team-a/files'];
    const { code, report } = await reportOf([...argv, '--email', 'alice@example.com']);

    expect(code).toBe(0);
    expect(report['log']).toEqual([expect.objectContaining({ message: 'authorize check' })]);
  });

  test('exits with 1 for what the gateway answers by itself', async () => {
    const url = 'https://files.example.com/.gateway/sign_in';
    const { code, stdout } = await runInProcess(['explain', '-f', EXAMPLES, '--url', url]);

    expect(code).toBe(1);
    expect(stdout).toMatch(/^none \(the gateway answers by itself\)\n/);
  });

  test('reads claims as a sign-in does', async () => {
    const settings = {
      idp: {
        ...{ issuer: 'https://idp.example.com', client_id: 'gatehouse' },
        ...{ groups_claim: 'realm/roles', require_verified_email: true },
      },
    };
    const route = {
      ...{ name: 'app', from: 'https://app.example.com', to: 'http://app' },
      policy: { allow: { or: [{ groups: 'admins' }, { 'claim/level': '3' }] } },
    };
    const plain = { identity_providers: settings, routes: [route] };
    const file = await directory.write('gatehouse.yaml', JSON.stringify(plain));
    const roles = { sub: 'a', email: 'a@example.com', realm: { roles: ['admins'] } };
    const claims = await directory.write('claims.json', JSON.stringify(roles));

    const admin = await reportOf(['explain', '-f', file, '--claims', claims]);
    expect(admin.report).toMatchObject({ decision: 'allow', user: { groups: ['admins'] } });
    expect(admin.report['user']).not.toHaveProperty('email');

    const third = await reportOf(['explain', '-f', file, '--user', 'b', '--claim', 'level=3']);
    expect(third.report).toMatchObject({ decision: 'allow', reasons: ['claim-ok'] });

    const unknown = ['--user', 'c', '--claim', '_claim_names={"realm":"src1"}'];
    const leftOut = await reportOf(['explain', '-f', file, ...unknown]);
    expect(leftOut.code).toBe(3);
    expect(leftOut.report).toMatchObject({ reasons: ['groups-left-out'] });
  });

  test('shows control characters of claims as escapes', async () => {
    const user = ['--user', 'eve\u001b[2K\nallow', '--email', 'eve@example.org'];
    const { stdout } = await runInProcess([...INVOICES, ...user]);

    expect(stdout).toContain('eve\\u001b[2K\\u000aallow of company');
    expect(stdout).not.toContain('\u001b');
  });

  test('needs no Secret', async () => {
    const settings = {
      ...{ apiVersion: 'gatehouse.dev/v1alpha1', kind: 'GatewaySettings' },
      metadata: { name: 'gatehouse', namespace: 'gatehouse' },
      spec: {
        identityProviders: [
          {
            ...{ name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' },
            clientSecretRef: { name: 'nowhere', key: 'secret' },
          },
        ],
        signingKeyRefs: [{ name: 'nowhere', key: 'key' }],
      },
    };
    const file = await directory.write('settings.yaml', JSON.stringify(settings));
    const upstreamOauth2 = { clientId: 'x', clientSecretRef: { name: 'nowhere', key: 'secret' } };
    const spec = {
      ...{ from: 'https://tickets.example.com', to: 'https://mcp.tickets.example' },
      ...{ mcp: { server: { upstreamOauth2 } }, allowAnyAuthenticatedUser: true },
    };
    const metadata = { name: 'tickets', namespace: 'support' };
    const manifest = { ...settings, kind: 'Route', metadata, spec };
    const route = await directory.write('route.yaml', JSON.stringify(manifest));
    const { code } = await runInProcess([
      ...['explain', '-f', file, '-f', route, '--email', 'alice@example.com'],
    ]);

    expect(code).toBe(0);
  });

  test.each([
    {
      argv: ['--route', 'finance/nothing'],
      message: 'no Route finance/nothing serves; there are ',
    },
    {
      argv: [],
      message: 'a route or a URL must be given; there are assistants/assistant, finance/invoices, ',
    },
    {
      argv: ['--route', 'team-a/files', '--tool', 'a'],
      message: 'Route team-a/files is not an MCP route, and the request has an MCP message',
    },
    {
      argv: ['--route', 'team-a/files', '--url', 'https://wiki.example.com/'],
      message: 'the request is for Route tools/wiki, and not for team-a/files',
    },
    {
      argv: ['--route', 'finance/invoices', '--token', 'gte_a'],
      message: 'only the gateway that ',
    },
    { argv: ['--route', 'finance/invoices', '--token', 'a b'], message: 'the token is empty, or ' },
    { argv: ['--token-file', '/nowhere'], message: 'cannot read /nowhere: there is no such file' },
  ])('exits with 1 for $argv', async ({ argv, message }) => {
    const { code, stdout, stderr } = await runInProcess(['explain', '-f', EXAMPLES, ...argv]);

    expect(stderr).toContain(`gatehouse: ${message}`);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  test('prints the problems of the configuration, and exits with 1', async () => {
    const file = await directory.write('a.yaml', 'routes: [{ from: x }]\n');
    const { code, stderr } = await runInProcess(['explain', '-f', file]);

    expect(stderr).toMatch(/a\.yaml:1 .*from: must /);
    expect(code).toBe(1);
  });

  test.each([
    { argv: ['--output', 'xml'], message: '--output is text or json' },
    { argv: ['--method', 'get'], message: '--method must be a method of HTTP other than' },
    { argv: ['--path', 'a'], message: '--path must begin with "/"' },
    { argv: ['--url', 'a.example.com'], message: '--url must be an http or https URL' },
    { argv: ['--url', 'https://a/', '--path', '/b'], message: '--path is part of the URL' },
    { argv: ['--time', '2026-02-30T00:00:00Z'], message: '--time must be a time' },
    { argv: ['--header', 'Upgrade: websocket'], message: '--header Upgrade is not taken: handsh' },
    { argv: ['--time', 'noon'], message: '--time must be a time with a time zone' },
    { argv: ['--client-address', 'a'], message: '--client-address must be an IP address' },
    { argv: ['--tool', 'a', '--prompt', 'b'], message: '--prompt must not be given beside a tool' },
    { argv: ['--tool', 'a', '--mcp-method', 'ping'], message: '--mcp-method ping has no tool' },
    { argv: ['--tool', 'a', '--method', 'GET'], message: '--method must be POST' },
    { argv: ['--arguments', '{}'], message: '--arguments are those of a tool' },
    { argv: ['--tool', 'a', '--arguments', '[]'], message: '--arguments is not a JSON object' },
    {
      argv: ['--tool', 'a', '--arguments', '{"b":1,"b":2}'],
      message: '--arguments has a duplicate key',
    },
    { argv: ['--header', 'a'], message: '--header is NAME:VALUE' },
    { argv: ['--header', 'a b: c'], message: '--header has a name that no header field has' },
    { argv: ['--header', 'Host: c'], message: '--header Host is not taken' },
    { argv: ['--header', 'A: b', '--header', 'a: c'], message: '--header names a field twice' },
    { argv: ['--user', 'a', '--groups', 'b,,c'], message: '--groups has an empty name' },
    { argv: ['--claim', 'a'], message: '--claim is NAME=VALUE' },
    { argv: ['--groups', 'a'], message: '--user is required, or an email address' },
    { argv: ['--user', 'a', '--token', 'b'], message: 'a request has either a user or one token' },
    { argv: ['--namespace', 'a', '--route', 'b/c'], message: '--namespace is not the namespace' },
  ])('exits with 2 for $argv', async ({ argv, message }) => {
    const { code, stderr } = await runInProcess(['explain', '-f', EXAMPLES, ...argv]);

    expect(stderr).toContain(`gatehouse: ${message}`);
    expect(code).toBe(2);
  });
});
