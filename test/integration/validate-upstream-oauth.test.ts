import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runInProcess } from '../support/command-line.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

describe('gatehouse validate, of upstream OAuth and MCP applications', () => {
  test('notes upstreams that discovery may not ask, by the settings', async () => {
    const upstream = (name: string, more = ''): string =>
      `  - { name: ${name}, from: "https://${name}.example.com", to: "https://mcp.${name}.example", mcp: { server: { upstream_oauth2: {}${more} } }, allow_any_authenticated_user: true }`;
    const configuration = [
      'identity_providers: { idp: { issuer: "https://idp.example.com", client_id: gatehouse } }',
      'mcp_allowed_as_metadata_domains: ["*.listed.example"]',
      'routes:',
      upstream('listed'),
      upstream('unlisted'),
      upstream('fallback', ', authorization_server_url: "https://as.listed.example"'),
      '',
    ].join('\n');
    await directory.write('gatehouse.yaml', configuration);
    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);

    expect(stdout.split('\n')).toEqual([
      `${directory.path}: note: Route default/unlisted: nobody can connect to its upstream, because mcp_allowed_as_metadata_domains does not list mcp.unlisted.example`,
      expect.stringContaining('no problems (3 Routes'),
      '',
    ]);
    expect(code).toBe(0);
  });

  test('prints every problem with upstream OAuth and MCP applications, in the words of the form', async () => {
    const route = (name: string, to: string, mcp: string): string =>
      `  - { name: ${name}, from: "https://${name}.example.com", to: "${to}", mcp: ${mcp}, allow_any_authenticated_user: true }`;
    const configuration = [
      'identity_providers: { idp: { issuer: "https://idp.example.com", client_id: gatehouse } }',
      'routes:',
      route('cleartext', 'http://mcp', '{ server: { upstream_oauth2: {} } }'),
      route(
        'half',
        'https://mcp',
        '{ server: { upstream_oauth2: { client_id: x, endpoint: { auth_url: "https://as" } } } }',
      ),
      route(
        'set',
        'https://mcp',
        '{ server: { upstream_oauth2: { authorization_url_params: { state: x } } } }',
      ),
      route(
        'file',
        'https://mcp',
        '{ server: { upstream_oauth2: { client_id: x, client_secret_file: nowhere } } }',
      ),
      route('both', 'http://app', '{ client: {}, server: {} }'),
      '',
    ].join('\n');
    await directory.write('gatehouse.yaml', configuration);
    const { code, stdout } = await runInProcess(['validate', '-f', directory.path]);
    const problems = stdout.split('\n').filter((line) => line.includes(' Route '));

    expect(problems).toEqual([
      expect.stringContaining(
        ':3 (document 1) Route default/cleartext: routes[0].mcp.server.upstream_oauth2: needs client_id, endpoint.auth_url and endpoint.token_url with an http upstream, because discovery asks https upstreams only [UnsupportedValue]',
      ),
      expect.stringContaining(
        ':4 (document 1) Route default/half: routes[1].mcp.server.upstream_oauth2.endpoint: auth_url and token_url must be set together [InvalidSpec]',
      ),
      expect.stringContaining(
        ':5 (document 1) Route default/set: routes[2].mcp.server.upstream_oauth2.authorization_url_params.state: cannot be set, because the protocol sets it [UnsupportedValue]',
      ),
      expect.stringContaining(
        ':6 (document 1) Route default/file: routes[3].mcp.server.upstream_oauth2.client_secret_file: the file nowhere cannot be read [InvalidSpec]',
      ),
      expect.stringContaining(
        ':7 (document 1) Route default/both: routes[4].mcp: exactly one of server and client must be set [InvalidSpec]',
      ),
    ]);
    expect(code).toBe(1);
  });
});
