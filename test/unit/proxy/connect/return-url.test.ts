import { describe, expect, test } from '@jest/globals';

import { readReturnUrl, withConnectError } from '../../../../proxy/connect/return-url.ts';
import { aRoute, aWebRoute } from '../../../support/authorization-server.ts';
import { buildConfiguration } from '../../../support/build-configuration.ts';
import { aSnapshot } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const { routes } = buildConfiguration(
  aSnapshot(
    compiledSettings({}),
    aRoute(),
    aWebRoute({ name: 'default/app', host: 'app.example.com', mcpClient: true }),
    aWebRoute({ name: 'default/high', host: 'app.example.com', port: 8443, mcpClient: true }),
    aWebRoute({ name: 'default/web', host: 'web.example.com' }),
    aWebRoute({
      ...{ name: 'default/dev', host: 'app.localhost', port: 8080, scheme: 'http' },
      mcpClient: true,
    }),
  ),
);

function read(text: string, devAllowLoopback = false): string | null {
  return readReturnUrl(text, { routes, devAllowLoopback });
}

describe('the URL to which an application has its users return', () => {
  test.each([
    'https://app.example.com/',
    'https://app.example.com/path?query=1#fragment',
    'https://app.example.com:8443/back',
  ])('may be %s, which is of an MCP client route', (url) => {
    expect(read(url)).toBe(url);
  });

  test('is read as browsers read it', () => {
    expect(read('https://APP.example.com:443')).toBe('https://app.example.com/');
  });

  test.each([
    ['is empty', ''],
    ['is a path', '/back'],
    ['has no scheme', '//app.example.com/'],
    ['is of a host without routes', 'https://evil.example.com/'],
    ['is of a route for browsers', 'https://web.example.com/'],
    ['is of an MCP server', 'https://mcp.example.com/mcp'],
    ['has another port', 'https://app.example.com:444/'],
    ['is not https', 'http://app.example.com/'],
    ['is a script', 'javascript:alert(1)//app.example.com'],
    ['has a user', 'https://app.example.com@evil.example.com/'],
    ['has a user of the right host', 'https://evil@app.example.com/'],
    ['has a backslash', 'https://evil.example.com\\@app.example.com/'],
    ['has a line break', 'https://app.example.com/\r\nSet-Cookie: a=b'],
    ['has a blank', ' https://app.example.com/'],
    ['ends like the host', 'https://notapp.example.com/'],
    ['begins like the host', 'https://app.example.com.evil.example/'],
    ['is longer than sign-in can carry', `https://app.example.com/${'a'.repeat(1500)}`],
    ['is on loopback', 'http://app.localhost:8080/'],
  ])('is refused if it %s', (_what, url) => {
    expect(read(url)).toBeNull();
  });

  test('may be http on loopback in development only', () => {
    expect(read('http://app.localhost:8080/', true)).toBe('http://app.localhost:8080/');
    expect(read('http://app.example.com/', true)).toBeNull();
  });

  test('has the scheme of the route', () => {
    expect(read('https://app.localhost:8080/', true)).toBeNull();
  });
});

test.each([
  ['https://a.example/', 'https://a.example/?connect_error=access_denied'],
  ['https://a.example/p?q=a%20b', 'https://a.example/p?q=a%20b&connect_error=access_denied'],
  ['https://a.example/?#top', 'https://a.example/?connect_error=access_denied#top'],
])('the error is at the end of the query of %s', (url, expected) => {
  expect(withConnectError(url, 'access_denied')).toBe(expected);
});
