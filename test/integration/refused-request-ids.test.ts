import { describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  codeOf,
  REFUSED_REQUESTS,
  requestIdsOf,
  startRefusingWorld,
} from '../support/refused-requests.ts';

const world = openForAll(startRefusingWorld);

describe('The answer to a refused request carries the id that its log lines have', () => {
  test.each(REFUSED_REQUESTS)('$name', async ({ send, code, isDecided = false, isSilent }) => {
    const answer = await send(world());
    const ids = requestIdsOf(answer);
    expect(codeOf(answer)).toBe(code);
    expect(ids.header).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    expect(ids.body).toBe(ids.header);

    const lines = () =>
      world()
        .users.gateway.logs()
        .filter((record) => record['request-id'] === ids.header);
    await eventually('there is an access line', () =>
      lines().some(({ service }) => service === 'access'),
    );
    const messages = lines().map(({ message }) => String(message));
    expect(messages.includes('authorize check')).toBe(isDecided);
    const isSaid = messages.some((message) => /^request (?:refused|failed)$/.test(message));
    expect(isSaid || isDecided || isSilent).toBe(true);
  });
});
