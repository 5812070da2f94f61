import { describe, expect, it } from '@jest/globals';

import {
  formatTraceparent,
  parseTraceparent,
} from '../../../../../shared/telemetry/tracing/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('parseTraceparent', () => {
  it('reads the ids and the sampling decision', () => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      isSampled: true,
    });
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)?.isSampled).toBe(false);
  });

  it('reads later versions, which may have more fields', () => {
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-holds`)?.spanId).toBe(SPAN);
  });

  it.each([
    ['nothing', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['more fields in version 00', `00-${TRACE}-${SPAN}-01-more`],
    ['a field without its hyphen', `cc-${TRACE}-${SPAN}-01more`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['flags that are not hexadecimal', `00-${TRACE}-${SPAN}-0x`],
    ['two of them', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['a line break', `00-${TRACE}-${SPAN}-01\n`],
  ])('refuses %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it('keeps the state of other systems', () => {
    const state = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE';
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`, state)?.traceState).toBe(state);
  });

  it.each([
    ['too long', 'a=' + 'b'.repeat(511)],
    ['not ASCII', 'a=ü'],
    ['of several lines', 'a=b\r\nc: d'],
    ['empty', ''],
    ['a list with nothing between commas', 'a=b,,c=d'],
    ['without a value', 'a'],
    ['of 33 members', Array.from({ length: 33 }, (_, index) => `a${String(index)}=b`).join(',')],
  ])('drops a state that is %s', (_what, state) => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`, state)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      isSampled: true,
    });
  });
});

describe('formatTraceparent', () => {
  it.each(['00', '01'])('writes what was read with the flags %s', (flags) => {
    const text = `00-${TRACE}-${SPAN}-${flags}`;
    expect([parseTraceparent(text)].flatMap((read) => read ?? []).map(formatTraceparent)).toEqual([
      text,
    ]);
  });
});
