import { expect } from '@jest/globals';

import { membersOf, type Answer } from './http-client.ts';

/** An error of the gateway's own on an MCP route. */
export interface JsonRpcError {
  readonly status: number;
  readonly code: number;
  /** Null if no request with an id was understood. */
  readonly id?: string | number | null;
  /** Not checked if absent. */
  readonly reason?: string;
}

/** Expects a response to be an error of the gateway's own in JSON-RPC, and nothing else. */
export function expectJsonRpcError(
  answer: Answer,
  { status, code, id = null, reason = expect.any(String) as unknown as string }: JsonRpcError,
): void {
  const data = { reason, request_id: answer.headers['x-request-id'] };
  const error = { code, message: expect.any(String), data };
  expect({ status: answer.status, body: membersOf(answer) }).toEqual({
    status,
    body: { jsonrpc: '2.0', id, error },
  });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers).not.toHaveProperty('location');
}
