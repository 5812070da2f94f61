import { describe, expect, test } from '@jest/globals';

import {
  secretsOfBody,
  secretsOfHeaders,
  secretsOfUrl,
} from '../../../support/redis/suite/secrets-in-http.ts';

const PAYLOAD = {
  sub: 'alice',
  email: 'alice@example.com',
  name: 'Alice Adler',
  nonce: 'a-nonce-1',
};
const JWT = `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify(PAYLOAD)).toString('base64url')}.`;

function valuesOf(secrets: ReturnType<typeof secretsOfBody>): readonly string[] {
  return secrets.map(({ value }) => value);
}

describe('Secrets of an exchange', () => {
  test('are the values of cookies, on both ways', () => {
    const headers = {
      Cookie: 'first=first-value; second=second=value',
      'Set-Cookie': ['third=third-value; Path=/; HttpOnly', 'fourth=fourth-value'],
    };
    const values = ['first-value', 'second=value', 'third-value', 'fourth-value'];
    expect(valuesOf(secretsOfHeaders(headers))).toEqual(values);
  });

  test('are credentials, and the client secret in them', () => {
    const basic = Buffer.from('client:a%20secret%2B1').toString('base64');
    expect(valuesOf(secretsOfHeaders({ authorization: 'Bearer a-token-1' }))).toEqual([
      'a-token-1',
    ]);
    expect(valuesOf(secretsOfHeaders({ authorization: `Basic ${basic}` }))).toEqual([
      ...[basic, 'a%20secret%2B1', 'a secret+1'],
    ]);
  });

  test('are parameters of URLs and redirects', () => {
    const url =
      '/callback?code=the-code-1&state=a%2Fstate-1&iss=http://localhost&request=pending-1';
    const values = ['the-code-1', 'a%2Fstate-1', 'a/state-1', 'pending-1'];
    expect(valuesOf(secretsOfUrl(url))).toEqual(values);
    expect(valuesOf(secretsOfHeaders({ location: `https://client.example${url}` }))).toEqual(
      values,
    );
  });

  test('are parameters of forms', () => {
    const form = {
      grant_type: 'refresh_token',
      refresh_token: 'gtr_1234',
      code_verifier: 'verifier',
    };
    expect(valuesOf(secretsOfBody(new URLSearchParams(form).toString()))).toEqual([
      ...['gtr_1234', 'verifier'],
    ]);
  });

  test('are tokens in JSON, and who an identity token speaks of', () => {
    const answer = { access_token: 'gte_1234', expires_in: 60, id_token: JWT };
    expect(valuesOf(secretsOfBody(JSON.stringify(answer)))).toEqual([
      ...['gte_1234', JWT, JWT, 'alice@example.com', 'Alice Adler', 'a-nonce-1'],
    ]);
  });

  test('are the names of users and clients, and not those of tools', () => {
    const tools = { result: { tools: [{ name: 'delete_invoice' }] } };
    expect(secretsOfBody(JSON.stringify(tools))).toEqual([]);
    expect(valuesOf(secretsOfBody('{"client_name":"Test client"}'))).toEqual(['Test client']);
    expect(valuesOf(secretsOfBody('{"sub":"alice","name":"Alice Adler"}'))).toEqual([
      'Alice Adler',
    ]);
  });
});
