import { readdirSync, readFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import type { UpstreamRequest } from '../../../../proxy/forwarding/request/upstream-request.ts';
import type { RepeatPlan } from '../../../../proxy/forwarding/response/response-plan.ts';
import type { GatewayRequest } from '../../../../proxy/http/gateway-request.ts';

/* eslint-disable @typescript-eslint/no-unsafe-class-instance-assignment -- forgeries must not compile */

const REQUEST: GatewayRequest = {
  id: 'r-1',
  method: 'GET',
  path: '/',
  query: '',
  authority: 'app.example.com',
  remoteAddress: '192.0.2.1',
  message: new IncomingMessage(new Socket()),
};

/** Names of the files in proxy/ that assert that something is of a type. */
function assertingFiles(type: string): readonly string[] {
  const folder = `${import.meta.dirname}/../../../../proxy`;
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const assertion = new RegExp(`\\bas (?:unknown as )?${type}\\b`);
  return sources
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => assertion.test(readFileSync(`${folder}/${name}`, 'utf8')));
}

describe('an upstream request', () => {
  test('cannot be written as an object literal', () => {
    // @ts-expect-error only a permit produces one
    const forged: UpstreamRequest = {
      request: REQUEST,
      origin: 'http://upstream',
      choice: undefined,
      path: '/',
      headers: [],
      body: 'none',
      responseTimeoutMs: 0,
    };

    expect(forged).toBeDefined();
  });

  test('cannot be written as a changed copy', () => {
    const forge = (upstream: UpstreamRequest): UpstreamRequest =>
      // @ts-expect-error a copy is not an upstream request
      ({ ...upstream, path: '/admin' });

    expect(forge).toBeDefined();
  });

  test('is asserted in make-upstream-request.ts only', () => {
    expect(assertingFiles('UpstreamRequest')).toEqual(['pipeline/make-upstream-request.ts']);
  });
});

describe('a plan to send a request again', () => {
  test('cannot be written as an object literal', () => {
    const forge = (upstream: UpstreamRequest): RepeatPlan =>
      // @ts-expect-error forwarding offers it, where the request can be sent again
      ({ kind: 'repeat', upstream });

    expect(forge).toBeDefined();
  });

  test('is asserted in response-plan.ts only', () => {
    expect(assertingFiles('RepeatPlan')).toEqual(['forwarding/response/response-plan.ts']);
  });
});
