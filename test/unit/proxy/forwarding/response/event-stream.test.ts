import { describe, expect, test } from '@jest/globals';

import { EventStream } from '../../../../../proxy/forwarding/response/event-stream.ts';

/** What leaves when the stream is to end after `before`, and `after` still comes. */
function ended(before: readonly string[], after: readonly string[], isResumed = false): string {
  let isOver = false;
  const options = { answersCall: false, isResumed };
  const stream = new EventStream(options, () => (isOver = true));
  let sent = '';
  for (const chunk of before) sent += stream.pass(Buffer.from(chunk)).toString();
  stream.end(true);
  for (const chunk of after) {
    if (isOver) break;
    sent += stream.pass(Buffer.from(chunk)).toString();
    isOver = stream.isOver;
  }
  return isOver ? sent : `${sent} and more`;
}

describe('an event stream that must end', () => {
  test.each<[string, before: string[], after: string[], sent: string]>([
    ['before its first event', [], ['data: 1\n\n'], ''],
    ['behind an event', ['data: 1\n\n'], ['data: 2\n\n'], 'data: 1\n\n'],
    ['behind an event with CRLF', ['data: 1\r\n\r\n'], ['data: 2\n\n'], 'data: 1\r\n\r\n'],
    ['behind an event with CR', ['data: 1\r\r'], ['data: 2\n\n'], 'data: 1\r\r'],
    ['behind an event in pieces', ['data: 1\n', '\n'], ['data: 2\n\n'], 'data: 1\n\n'],
    ['within a line', ['data: 1\n\nda'], ['ta: 2\n\ndata: 3\n\n'], 'data: 1\n\ndata: 2\n\n'],
    ['behind a line', ['data: 1\n'], ['data: 2\n\ndata: 3\n\n'], 'data: 1\ndata: 2\n\n'],
    ['behind a line of the end', ['data: 1\n'], ['\ndata: 2\n\n'], 'data: 1\n\n'],
    ['within a CRLF', ['data: 1\r'], ['\ndata: 2\r\n\r\nx'], 'data: 1\r\ndata: 2\r\n\r\n'],
    ['within the last CRLF', ['data: 1\r\n\r'], ['\nx'], 'data: 1\r\n\r'],
    ['with an event in pieces to come', ['da'], ['ta: 1', '\n', '\n', 'x'], 'data: 1\n\n'],
    [
      'with an event that does not end',
      ['da'],
      ['ta: 1\n', 'id: 2\n'],
      'data: 1\nid: 2\n and more',
    ],
  ])('ends after an event: %s', (_where, before, after, sent) => {
    expect(ended(before, after)).toBe(sent);
  });

  test.each<[string, before: string[], after: string[], sent: string]>([
    ['before its first event', [], ['data: 1\n\ndata: 2\n\n'], 'data: 1\n\n'],
    ['within its first event', ['da'], ['ta: 1\n\ndata: 2\n\n'], 'data: 1\n\n'],
    ['behind its first event', ['data: 1\n\n'], ['data: 2\n\n'], 'data: 1\n\n'],
  ])('ends after at least one event if it is resumed: %s', (_where, before, after, sent) => {
    expect(ended(before, after, true)).toBe(sent);
  });
});
