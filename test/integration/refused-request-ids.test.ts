import { describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { recordSpans } from '../support/tracing/recorded-spans.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  codeOf,
  REFUSED_REQUESTS,
  requestIdsOf,
  startRefusingWorld,
} from '../support/refused-requests.ts';

const { tracer, spans } = recordSpans();
const tracing = { tracer, apply: () => undefined };
const world = openForAll(() => startRefusingWorld({ tracing }));

describe('The answer to a refused request carries the id of its log lines and its span', () => {
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

    const attributes = spans.map(({ attributes }) => attributes);
    const span = attributes.filter((each) => each['gatehouse.request.id'] === ids.header);
    expect(span).toHaveLength(1);
    const said = lines().find((line) => line['reason'] !== undefined);
    expect(said === undefined || span[0]?.['error.type'] === said['reason']).toBe(true);
  });
});
