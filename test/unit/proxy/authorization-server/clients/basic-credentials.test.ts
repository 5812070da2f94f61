import { describe, expect, test } from '@jest/globals';

import { parseBasicCredentials } from '../../../../../proxy/authorization-server/clients/basic-credentials.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('parseBasicCredentials', () => {
  test.each([
    ['plain values', basic('client:secret'), 'client', 'secret'],
    ['a colon in the secret', basic('client:se:cret'), 'client', 'se:cret'],
    ['form-urlencoded values', basic('a%3Ab+c:s%2Be%25'), 'a:b c', 's+e%'],
    ['UTF-8', basic('cl%C3%AFent:sécret'), 'clïent', 'sécret'],
    ['empty values', basic(':'), '', ''],
    [
      'a scheme in lower case',
      basic('client:secret').replace('Basic', 'basic'),
      'client',
      'secret',
    ],
  ])('reads %s', (_title, authorization, clientId, secret) => {
    expect(parseBasicCredentials(authorization)).toEqual({ clientId, secret });
  });

  test.each([
    ['another scheme', 'Bearer abc'],
    ['no credentials', 'Basic'],
    ['what is not base64', 'Basic ???'],
    ['no colon', basic('client')],
    ['a stray percent sign', basic('client:100%')],
    ['more than one value', `${basic('a:b')}, ${basic('c:d')}`],
    ['nothing', ''],
  ])('finds none in %s', (_title, authorization) => {
    expect(parseBasicCredentials(authorization)).toBeNull();
  });
});
