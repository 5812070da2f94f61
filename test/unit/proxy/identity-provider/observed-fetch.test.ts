import { expect, test } from '@jest/globals';

import {
  observedFetch,
  observeResponses,
  type ObservedResponse,
} from '../../../../proxy/identity-provider/observed-fetch.ts';
import { startUpstream } from '../../../support/upstream.ts';

const LIMIT = 2 ** 20;

function get(url: string): Promise<Response> {
  return observedFetch(url, { method: 'GET', headers: {}, body: undefined, redirect: 'manual' });
}

test('passes a response to the observer first, and then to the caller', async () => {
  await using server = await startUpstream((_message, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"a":"ä"}');
  });
  const seen: ObservedResponse[] = [];
  const observer = (response: ObservedResponse): Promise<void> => {
    seen.push(response);
    return Promise.resolve();
  };
  const response = await observeResponses(observer, () => get(`${server.origin}/x`));
  expect(seen).toEqual([
    { url: `${server.origin}/x`, ok: false, content: Buffer.from('{"a":"ä"}') },
  ]);
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ a: 'ä' });

  await get(server.origin);
  expect(seen).toHaveLength(1);
});

test('fails with the error of the observer', async () => {
  await using server = await startUpstream((_message, response) => response.end('{}'));
  const observer = (): Promise<never> => Promise.reject(new Error('not kept'));
  await expect(observeResponses(observer, () => get(server.origin))).rejects.toThrow('not kept');
});

test('passes on a response without a body', async () => {
  await using server = await startUpstream((_message, response) => response.writeHead(204).end());
  const response = await get(server.origin);
  expect({ status: response.status, body: response.body }).toEqual({ status: 204, body: null });
});

test('reads a response of one mebibyte, and refuses a longer one', async () => {
  await using server = await startUpstream(({ url = '' }, response) => {
    response.end('x'.repeat(Number(url.slice(1))));
  });
  expect(await (await get(`${server.origin}/${String(LIMIT)}`)).text()).toHaveLength(LIMIT);
  await expect(get(`${server.origin}/${String(LIMIT + 1)}`)).rejects.toThrow('longer than');
});

test('closes the connection of an endless response', async () => {
  const chunk = Buffer.alloc(LIMIT / 4, 'x');
  await using server = await startUpstream((_message, response) => {
    const go = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', go);
    go();
  });
  await expect(get(server.origin)).rejects.toThrow('longer than');
  expect(await (await server.request(0)).finished).toBe(false);
});
