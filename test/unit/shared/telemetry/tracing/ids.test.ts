import { describe, expect, it } from '@jest/globals';

import { SpanId, TraceId } from '../../../../../shared/telemetry/tracing/ids.ts';

/** More than random bytes are made for at once. */
const MANY = 2_000;

describe('ids of spans and traces', () => {
  it('have a text that says the same as their words', () => {
    for (let count = 0; count < MANY; count += 1) {
      const [trace, span] = [TraceId.random(), SpanId.random()];
      expect(trace.text).toMatch(/^[0-9a-f]{32}$/);
      expect(TraceId.parse(trace.text).words).toEqual(trace.words);
      expect(span.text).toMatch(/^[0-9a-f]{16}$/);
      expect(SpanId.parse(span.text)).toEqual(span);
    }
  });

  it('differ from each other', () => {
    const texts = Array.from({ length: MANY }, () => [TraceId.random().text, SpanId.random().text]);
    expect(new Set(texts.flat()).size).toBe(2 * MANY);
  });
});
