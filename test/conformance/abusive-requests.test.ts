import { beforeAll, describe, expect, test } from '@jest/globals';

import {
  ABUSIVE_REQUESTS,
  ORDINARY_REQUEST,
  type AbusiveRequest,
} from '../support/abuse/abusive-requests.ts';
import { EXPRESSIONS } from '../support/abuse/abuse-routes.ts';
import { startAbuseWorld } from '../support/abuse/abuse-world.ts';
import { WorkMeter, type Work } from '../support/abuse/work-meter.ts';
import { openForAll } from '../support/open-for-all.ts';

/** The most that a request may cost, besides what each of its bytes may. */
const ORDINARY_REQUESTS = 10;
/** Turns of a loop in our own code for each byte: a few of them go over it. */
const BLOCKS_PER_BYTE = 2;
/** Each of them reads a path in two readings. */
const BLOCKS_PER_BYTE_OF_EXPRESSIONS = BLOCKS_PER_BYTE + 2 * EXPRESSIONS;
/** Built-in functions pass over a byte in parts of a nanosecond, when it is copied, hashed or searched. */
const CHARACTERS_PER_BYTE = 64;

const world = openForAll(startAbuseWorld);
const meter = openForAll(() => WorkMeter.start());
let ordinary: Work;
beforeAll(async () => {
  // Everything that is made once is made now, and not while a request is measured.
  for (const request of [...ABUSIVE_REQUESTS, ORDINARY_REQUEST]) await exchange(request);
  await meter().measure(() => exchange(ORDINARY_REQUEST));
  ordinary = await workOf(ORDINARY_REQUEST);
});

async function exchange(request: AbusiveRequest): Promise<void> {
  await world().exchange(request.bytes(world().port));
}

function workOf(request: AbusiveRequest): Promise<Work> {
  return meter().measure(() => exchange(request));
}

// Attack: 13 requests a second with a Host of 16 KiB in labels of one letter took all time of a proxy.
describe('An anonymous request of 16 KiB costs no more steps than its bytes and ten ordinary requests', () => {
  test.each(ABUSIVE_REQUESTS)('$name', async (request) => {
    const { blocks, characters } = await workOf(request);
    const bytes = request.bytes(world().port).length;
    const each = request.host === 'expressions' ? BLOCKS_PER_BYTE_OF_EXPRESSIONS : BLOCKS_PER_BYTE;
    expect(blocks).toBeLessThanOrEqual(ORDINARY_REQUESTS * ordinary.blocks + each * bytes);
    const most = ORDINARY_REQUESTS * ordinary.characters + CHARACTERS_PER_BYTE * bytes;
    expect(characters).toBeLessThanOrEqual(most);
  });

  // To list thousands of parameters cost as much as twenty ordinary requests.
  test.each(['/sign_in', '/callback', '/mcp/authorize', '/mcp/consent'])(
    'a query of thousands of parameters is refused at %s',
    async (endpoint) => {
      const { port } = world();
      const head = `HTTP/1.1\r\nHost: mcp.localhost:${String(port)}\r\n\r\n`;
      const status = await world().exchange(
        `GET /.gateway${endpoint}?${'a=b&'.repeat(3_000)} ${head}`,
      );
      expect(status).toBe(400);
    },
  );

  test('the meter counts the steps of an ordinary request', () => {
    expect(ordinary.blocks).toBeGreaterThan(100);
    expect(ordinary.characters).toBeGreaterThan(1_000);
  });

  test('the meter counts a loop over the labels of a name', async () => {
    const name = 'a.'.repeat(1_000);
    const { characters } = await meter().measure(() => {
      for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
        name.slice(dot);
      }
      return Promise.resolve();
    });
    expect(characters).toBeGreaterThan(900_000);
  });
});
