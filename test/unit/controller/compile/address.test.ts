import { describe, expect, test } from '@jest/globals';

import { parseAddress } from '../../../../controller/compile/address.ts';

describe('an address', () => {
  test.each([
    ['https://app.example.com', 'https', 'app.example.com', 443],
    ['https://App.Example.COM:443/', 'https', 'app.example.com', 443],
    ['http://app.example.com', 'http', 'app.example.com', 80],
    ['https://*.Example.com:8443', 'https', '*.example.com', 8443],
    ['http://127.0.0.1:8080', 'http', '127.0.0.1', 8080],
    ['http://[0:0:0:0:0:0:0:1]:8080/', 'http', '[::1]', 8080],
    [`https://*.${'a.'.repeat(125)}a`, 'https', `*.${'a.'.repeat(125)}a`, 443],
    ['https://localhost', 'https', 'localhost', 443],
  ])('%s is valid', (text, scheme, host, port) => {
    expect(parseAddress(text, 'spec.from')).toEqual({
      kind: 'made',
      value: { scheme, host, port },
    });
  });

  test.each([
    'ftp://app.example.com',
    'app.example.com',
    'https://',
    'https://app.example.com/path',
    'https://app.example.com?query',
    'https://app.example.com#fragment',
    'https://user@app.example.com',
    'https://app..example.com',
    'https://app.example.com.',
    'https://-app.example.com',
    'https://app_1.example.com',
    'https://*.*.example.com',
    'https://app.*.com',
    'https://*.127.0.0.1',
    'https://*.[::1]',
    'https://[::1',
    'https://bücher.example',
    `https://${'a'.repeat(64)}.example.com`,
    `https://${'a.'.repeat(127)}com`,
    // Too long for a key of a ConfigMap, with its wildcard.
    `https://*.${'a.'.repeat(125)}ab`,
    'https://app.example.com:0',
    'https://app.example.com:65536',
  ])('%s is invalid', (text) => {
    expect(parseAddress(text, 'spec.from')).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'spec.from', reason: 'InvalidSpec' }],
    });
  });

  // Attack: a name with a second spelling evades a check that compares names.
  test.each(['http://127.1', 'http://0x7f.0.0.1', 'http://2130706433', 'http://017700000001'])(
    '%s, another spelling of 127.0.0.1, is refused',
    (text) => {
      expect(parseAddress(text, 'spec.from').kind).toBe('invalid');
    },
  );
});
