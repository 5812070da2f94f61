import { describe, expect, test } from '@jest/globals';

import { InvalidRedirectUriError } from '../../../../../proxy/errors/oauth-errors.ts';
import { parseRedirectUris } from '../../../../../proxy/authorization-server/clients/parse-redirect-uris.ts';
import {
  judgeRedirectUri,
  matchesRedirectUri,
  redirectTarget,
} from '../../../../../proxy/authorization-server/clients/redirect-uri.ts';
import { verifies } from '../../../../requirements/verifies.ts';

/** The redirect URIs of a client that registers this one. */
function registered(uri: string): readonly string[] {
  return parseRedirectUris({ redirect_uris: [uri] });
}

describe('The registration of a redirect URI', () => {
  const ACCEPTED = [
    'https://client.example/callback',
    'https://client.example',
    'https://client.example:8443/cb?a=b&c=d',
    'https://claude.ai/api/mcp/auth_callback',
    'https://CLIENT.example/callback',
    'https://my_app.client-1.example/callback',
    'https://192.0.2.1/callback',
    'https://[2001:db8::1]:8443/callback',
    'https://xn--bcher-kva.example/callback',
    'https://vscode.dev/redirect',
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'http://localhost/callback',
    'http://localhost:6274/oauth/callback',
    'http://127.0.0.1:33418/',
    'http://127.0.0.1',
    'http://[::1]:1/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://publisher.extension/callback',
    'vscode-insiders://publisher.extension/callback',
    'windsurf://codeium.windsurf/callback',
    'warp://mcp/oauth2callback',
    'com.example.app:/oauth2redirect',
    'com.raycast:/oauth?package=x',
  ];

  for (const uri of ACCEPTED) {
    verifies('as.redirect-uri-allowed', `accepts ${uri}`, () => {
      expect(registered(uri)).toEqual([uri]);
    });
  }

  const MALFORMED: readonly (readonly [string, string])[] = [
    ['', 'is not absolute'],
    ['/callback', 'is not absolute'],
    ['//client.example/callback', 'is not absolute'],
    ['client.example/callback', 'is not absolute'],
    ['https://', 'is not absolute'],
    ['https://client.example:99999/', 'is not absolute'],
    ['https:client.example/callback', 'has no host'],
    ['https:/client.example/callback', 'has no host'],
    ['https:///client.example/callback', 'has no host'],
    ['HTTPS://client.example/callback', 'is not absolute'],
    ['https://client.example/callback#', 'has a fragment'],
    ['https://client.example/callback#code', 'has a fragment'],
    ['https://user@client.example/', 'has a user name or password'],
    ['https://user:pass@client.example/', 'has a user name or password'],
    ['cursor://user@host/', 'has a user name or password'],
    ['https://*.example.com/callback', 'has a host that is no name or address'],
    ["https://a;script-src'self'.example/", 'has a host that is no name or address'],
    ['https://a,b.example/', 'has a host that is no name or address'],
    ['https://.example/', 'has a host that is no name or address'],
    ['https://client.example\\@evil.example/', 'has characters that a URI cannot have'],
    ['https://client.example/a b', 'has characters that a URI cannot have'],
    ['https://client.example/\n', 'has characters that a URI cannot have'],
    ['\thttps://client.example/', 'has characters that a URI cannot have'],
    ['https://client.example/<script>', 'has characters that a URI cannot have'],
    ['https://client.example/"', 'has characters that a URI cannot have'],
    ['https://clіent.example/', 'has characters that a URI cannot have'],
    [`https://client.example/${'a'.repeat(2048)}`, 'is longer than 2048 characters'],
  ];

  for (const [uri, problem] of MALFORMED) {
    verifies('as.redirect-uri-allowed', `refuses ${JSON.stringify(uri)}, which ${problem}`, () => {
      const error = new InvalidRedirectUriError(`redirect_uris[0] ${problem}`);
      expect(() => registered(uri)).toThrow(error);
    });
  }

  const INSECURE = [
    'http://client.example/callback',
    'http://localhost.evil.example/',
    'http://sub.localhost/',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.2/',
    'http://127.1/',
    'http://2130706433/',
    'http://[::2]/',
    'http://0.0.0.0/',
    'http://192.168.1.1/',
    'http://LOCALHOST/',
    'http:localhost/',
  ];

  for (const uri of INSECURE) {
    verifies(
      'as.redirect-uri-allowed',
      `refuses plain http to a host that is not plainly this computer: ${uri}`,
      () => {
        expect(() => registered(uri)).toThrow('must be https, but for localhost');
      },
    );
  }

  const FORBIDDEN = [
    'javascript:alert(1)',
    'javascript://client.example/%0aalert(1)',
    'data:text/html,hello',
    'file:///etc/passwd',
    'blob:https://client.example/1',
    'about:blank',
    'vbscript:msgbox',
    'ws://client.example/',
    'wss://client.example/',
    'ftp://client.example/',
    'view-source:https://client.example/',
    'mailto:a@client.example',
    'tel:110',
    'sms:110',
    'ms-msdt:/id',
    'ms-settings:home',
    'web+client://callback',
    'intent://scan/',
    'chrome://settings',
    'filesystem:https://client.example/',
  ];

  for (const uri of FORBIDDEN) {
    verifies(
      'as.redirect-uri-allowed',
      `refuses a scheme that does not open an application of the client: ${uri}`,
      () => {
        expect(() => registered(uri)).toThrow('has a scheme that is not allowed');
        expect(judgeRedirectUri(uri).kind).toBe('refused');
      },
    );
  }

  test('leaves out the scheme of an unknown application, and fails if no other URI is left', () => {
    const known = 'https://client.example/callback';
    expect(parseRedirectUris({ redirect_uris: ['somebody://callback', known] })).toEqual([known]);
    expect(() => registered('somebody://callback')).toThrow(InvalidRedirectUriError);

    expect(judgeRedirectUri('somebody://callback')).toEqual({
      kind: 'unknown-application',
      problem: 'has a scheme that is neither named after a domain nor of a known application',
    });
  });
});

describe('matchesRedirectUri', () => {
  const MATCHING: readonly (readonly [string, readonly string[]])[] = [
    ['https://h.example/cb', ['https://h.example/cb']],
    ['https://h.example/cb', ['https://other.example/', 'https://h.example/cb']],
    [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      ['cursor://anysphere.cursor-mcp/oauth/callback'],
    ],
    // Claude Code registers without a port and comes with one.
    ['http://localhost:53211/callback', ['http://localhost/callback']],
    ['http://127.0.0.1:53211/callback', ['http://localhost/callback', 'http://127.0.0.1/callback']],
    // VS Code registers a port and uses a different one if that is taken.
    ['http://127.0.0.1:50000/', ['http://127.0.0.1:33418/']],
    ['http://127.0.0.1/', ['http://127.0.0.1:33418/']],
    ['http://[::1]:50000/cb?a=b', ['http://[::1]/cb?a=b']],
    ['http://localhost:1', ['http://localhost']],
  ];

  for (const [requested, registered] of MATCHING) {
    verifies(
      'as.redirect-uri-exact',
      `accepts ${requested} if ${JSON.stringify(registered)} are registered`,
      () => {
        expect(matchesRedirectUri(requested, registered)).toBe(true);
      },
    );
  }

  const OTHERS: readonly (readonly [string, readonly string[]])[] = [
    ['https://h.example/cb', []],
    ['https://h.example/cb/', ['https://h.example/cb']],
    ['https://h.example/', ['https://h.example']],
    ['https://h.example', ['https://h.example/']],
    ['https://h.example/cb?x=1', ['https://h.example/cb']],
    ['https://h.example/CB', ['https://h.example/cb']],
    ['https://H.example/cb', ['https://h.example/cb']],
    ['https://h.example/%63b', ['https://h.example/cb']],
    ['https://h.example:443/cb', ['https://h.example/cb']],
    ['https://h.example:8443/cb', ['https://h.example/cb']],
    ['https://localhost:8443/cb', ['https://localhost/cb']],
    ['https://h.example/cb/../evil', ['https://h.example/cb']],
    ['https://h.example.evil.example/cb', ['https://h.example/cb']],
    ['http://localhost:1/other', ['http://localhost/callback']],
    ['http://localhost:1/callback?x=1', ['http://localhost/callback']],
    ['http://localhost:1/callback/', ['http://localhost/callback']],
    ['http://localhost:1/', ['http://localhost']],
    ['http://127.0.0.1:1/callback', ['http://localhost/callback']],
    ['http://[::1]:1/callback', ['http://127.0.0.1/callback']],
    ['http://localhost:1@evil.example/callback', ['http://localhost/callback']],
    ['http://localhost:99999/callback', ['http://localhost/callback']],
    ['http://localhost:/callback', ['http://localhost/callback']],
    ['http://localhost.evil.example/callback', ['http://localhost/callback']],
    ['http://h.example:81/cb', ['http://h.example/cb']],
    ['cursor://anysphere.cursor-mcp/oauth', ['cursor://anysphere.cursor-mcp/oauth/callback']],
    ['', ['https://h.example/cb']],
  ];

  for (const [requested, registered] of OTHERS) {
    verifies(
      'as.redirect-uri-exact',
      `refuses ${requested} if ${JSON.stringify(registered)} are registered`,
      () => {
        expect(matchesRedirectUri(requested, registered)).toBe(false);
      },
    );
  }
});

describe('redirectTarget', () => {
  const TARGETS: readonly (readonly [string, string, boolean])[] = [
    ['https://claude.ai/api/mcp/auth_callback', 'claude.ai', false],
    ['https://client.example:8443/', 'client.example', false],
    ['https://EXA%4dPLE.com/', 'example.com', false],
    ['https://xn--clent-g2a.example/', 'xn--clent-g2a.example', false],
    ['http://localhost:1234/cb', 'this computer (localhost)', true],
    ['http://127.0.0.1/cb', 'this computer (127.0.0.1)', true],
    ['http://[::1]/cb', 'this computer ([::1])', true],
    ['https://localhost/cb', 'this computer (localhost)', true],
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor:', false],
    ['com.example.app:/cb', 'com.example.app:', false],
  ];

  for (const [uri, name, isLoopback] of TARGETS) {
    verifies('as.consent', `shows ${uri} as ${name}`, () => {
      expect(redirectTarget(uri)).toMatchObject({ name, isLoopback });
    });
  }

  // Attack: a host in the URI of an application, which nobody owns, would look like a website in the log.
  test.each([
    ['https://client.example:8443/', 'client.example:8443'],
    ['http://[::1]:6274/cb', '[::1]:6274'],
    ['cursor://claude.ai/oauth/callback', 'cursor:'],
    ['com.example.app:/cb', 'com.example.app:'],
  ])('names %s as %s for the log', (uri, address) => {
    expect(redirectTarget(uri).address).toBe(address);
  });
});
