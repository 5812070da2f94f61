import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { ResponseDefect } from '../../../../proxy/upstream-client/malformed-response-error.ts';
import { NodeReader } from '../../../support/node-reader.ts';
import {
  recordInEverySplit,
  recordResponse,
  type RecordedResponse,
  type SentResponse,
} from '../../../support/recorded-response.ts';
import { aResponse } from '../../../support/arbitrary-responses.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const inChunks = (coding: string): string =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\nok\r\n0\r\n\r\n`;

/** A way in which responses are read differently here, and by node:http. */
interface Difference {
  readonly why: string;
  /** Is part of all such responses. */
  readonly sign: RegExp;
  readonly examples: readonly string[];
  readonly method?: string;
}

/** What node:http reads, and is refused here. */
const REFUSED_HERE: readonly (Difference & { readonly code: ResponseDefect })[] = [
  {
    why: 'An empty line first is what a request may begin with, not a response (RFC 9112, section 2.2).',
    code: 'not-http',
    sign: /(?:^|\n\r\n)[\r\n]/,
    examples: [`\r\n${OK}`, `\n${OK}`],
  },
  {
    why: 'Other versions have other rules, and none of them was asked for.',
    code: 'not-http',
    sign: /HTTP\/(?:0\.9|2\.0) /,
    examples: [OK.replace('1.1', '2.0'), OK.replace('1.1', '0.9')],
  },
  {
    why: 'A status that is no HTTP status could be taken for success (RFC 9110, section 15).',
    code: 'bad-status',
    sign: /HTTP\/1\.[01] (?:0|[6-9])/,
    examples: ['000', '099', '600', '999'].map((status) => OK.replace('200', status)),
  },
  {
    why: 'Control characters in a reason phrase (RFC 9112, section 4). They could reach a log.',
    code: 'control-character',
    // eslint-disable-next-line no-control-regex -- they are what is refused.
    sign: /HTTP\/1\.[01] \d{3} [^\r\n]*[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/,
    examples: ['\0', '\x1b', '\x7f'].map((reason) => OK.replace('OK', reason)),
  },
  {
    why: 'Node ends such bodies with the connection, or decodes the last coding only (D-129).',
    code: 'bad-transfer-encoding',
    sign: /Transfer-Encoding:/i,
    examples: [
      ...['gzip', 'gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'identity', 'chunked\t'],
      ...['chunked;', ',chunked', 'chunked,', '"chunked"', 'chunked\r\nTransfer-Encoding: chunked'],
    ].map(inChunks),
  },
  {
    why: 'Tabs at the ends of values count here, because llhttp does not ignore them after a coding.',
    code: 'bad-content-length',
    sign: /Content-Length:[^\r]*\t/i,
    examples: [OK.replace('h: 2', 'h: 2\t')],
  },
  {
    why: 'HTTP/1.0 has no chunks: other clients read them as the body (RFC 9112, section 6.1).',
    code: 'chunked-in-http-1.0',
    sign: /HTTP\/1\.0 .*Transfer-Encoding:/is,
    examples: [inChunks('chunked').replace('1.1', '1.0')],
  },
  {
    why: 'Transfer-Encoding in trailers cannot be about the body that is over.',
    code: 'framing-in-trailers',
    sign: /0\r\n.*Transfer-Encoding:/is,
    examples: [`${CHUNKED}0\r\nTransfer-Encoding: chunked\r\n\r\n`],
  },
  {
    why: 'Extensions without a name, or with an empty value (RFC 9112, section 7.1.1).',
    code: 'bad-chunk',
    sign: /[0-9a-f];[^\r]*=/i,
    examples: ['2;a=', '2;=b'].map((line) => `${CHUNKED}${line}\r\nok\r\n0\r\n\r\n`),
  },
  {
    why: 'Lines before chunks have at most 1,024 bytes; Node lets extensions have 16 KiB.',
    code: 'bad-chunk',
    sign: /[0-9a-f;]{1025}/i,
    examples: [`${'0'.repeat(1_025)}2`, `2;${'a'.repeat(1_025)}`].map(
      (line) => `${CHUNKED}${line}\r\nok\r\n0\r\n\r\n`,
    ),
  },
  {
    why: 'HTTP/1.0 has no informational responses, and closes the connection (RFC 9110, section 15.2).',
    code: 'closing-information',
    sign: /HTTP\/1\.0 1/,
    examples: [`HTTP/1.0 103 X\r\nConnection: keep-alive\r\n\r\n${OK}`],
  },
  {
    why: 'The gateway did not ask for a different protocol.',
    code: 'unexpected-upgrade',
    sign: /HTTP\/1\.[01] 101/,
    examples: ['HTTP/1.1 101 X\r\n\r\n'],
  },
  {
    why: 'Informational responses are bounded, because hints are passed on as they come.',
    code: 'too-many-informational',
    sign: /(?:HTTP\/1\.1 103 X\r\n\r\n){101}/,
    examples: [`${'HTTP/1.1 103 X\r\n\r\n'.repeat(101)}${OK}`],
  },
];

/** What node:http refuses, and is read here. */
const READ_HERE: readonly Difference[] = [
  {
    why: 'The response is whole; what follows it only costs the connection.',
    sign: /./s,
    examples: [`${OK}X`, `${CHUNKED}0\r\n\r\nX`, 'HTTP/1.1 204 X\r\n\r\nX'],
  },
  {
    why: 'Room for what separates 16 KiB of names and values, which Node counts otherwise.',
    sign: /A: b{10000}/,
    examples: [OK.replace('\r\n\r\n', `\r\nA: ${'b'.repeat(17_000)}\r\n\r\n`)],
  },
];

/** After what the connection is used again here, and not by node:http. */
const USED_AGAIN_HERE: readonly Difference[] = [
  {
    why: 'Proxy-Connection is no standard.',
    sign: /Proxy-Connection:/i,
    examples: [OK.replace('\r\n\r\n', '\r\nProxy-Connection: close\r\n\r\n')],
  },
  {
    why: 'The response to HEAD has no body, also without a length (RFC 9112, section 6.3).',
    sign: /./s,
    examples: ['HTTP/1.1 200 OK\r\n\r\n'],
    method: 'HEAD',
  },
];

let node: NodeReader;

beforeAll(async () => {
  node = await NodeReader.start();
});

afterAll(() => node[Symbol.asyncDispose]());

/** Reads a response that the end of the connection follows. `isReusable` is about the time before. */
function readHere(sent: SentResponse): RecordedResponse {
  const record = sent.bytes.length < 1_000 ? recordInEverySplit : recordResponse;
  const ended = record({ ...sent, ends: true });
  return { ...ended, isReusable: ended.refused === undefined && record(sent).isReusable };
}

const rows = <Row extends Difference>(table: readonly Row[]): [string, Row][] =>
  table.map((row) => [row.why, row]);

describe('Refused here, and read by node:http', () => {
  test.each(rows(REFUSED_HERE))('%s', async (_why, { examples, code, sign }) => {
    for (const bytes of examples) {
      expect(bytes).toMatch(sign);
      expect({ bytes, ...readHere({ bytes }) }).toMatchObject({ bytes, refused: code });
      expect({ bytes, ...(await node.read({ bytes })) }).not.toHaveProperty('refused');
    }
  });
});

describe('Read here, and refused by node:http', () => {
  test.each(rows(READ_HERE))('%s', async (_why, { examples, sign }) => {
    for (const bytes of examples) {
      expect(bytes).toMatch(sign);
      expect({ bytes, ...readHere({ bytes }) }).not.toHaveProperty('refused');
      expect({ bytes, ...(await node.read({ bytes })) }).toHaveProperty('refused');
    }
  });
});

describe('Followed by a next request here, and by the end of the connection in node:http', () => {
  test.each(rows(USED_AGAIN_HERE))('%s', async (_why, { examples, method = 'GET', sign }) => {
    for (const bytes of examples) {
      expect(bytes).toMatch(sign);
      expect(readHere({ bytes, method })).toMatchObject({ isReusable: true });
      expect(await node.read({ bytes, method })).toMatchObject({ isReusable: false });
    }
  });
});

test('Any other response is read or refused as by node:http', async () => {
  await fc.assert(
    fc.asyncProperty(aResponse(), async (sent) => {
      const here = readHere(sent);
      const there = await node.read(sent);
      expect({ here, there, difference: differenceBetween(sent, here, there) }).toMatchObject({
        difference: undefined,
      });
    }),
    { numRuns: 600 },
  );
});

/** Returns what differs in the reading of a response; undefined if nothing does, or if it is listed. */
function differenceBetween(
  sent: SentResponse,
  here: RecordedResponse,
  there: RecordedResponse,
): string | undefined {
  const { bytes, method = 'GET' } = sent;
  const has = ({ sign, method: of = method }: Difference): boolean =>
    of === method && sign.test(bytes);
  if (here.refused !== undefined) {
    const isListed = REFUSED_HERE.some((row) => row.code === here.refused && has(row));
    return isListed || there.refused !== undefined ? undefined : 'refused only here';
  }
  if (there.refused !== undefined) {
    return !here.isReusable && READ_HERE.some(has) ? undefined : 'read only here';
  }
  if (!isDeepStrictEqual({ ...withoutTabs(here), isReusable: there.isReusable }, there)) {
    return 'read otherwise';
  }
  const isReusedOnlyHere = here.isReusable && !there.isReusable;
  return isReusedOnlyHere && !USED_AGAIN_HERE.some(has) ? 'used again only here' : undefined;
}

/** Node takes tabs off the ends of values that it did not read as part of them. */
function withoutTabs(record: RecordedResponse): RecordedResponse {
  const trim = (list: readonly string[]): string[] =>
    list.map((text) => text.replace(/[\t ]+$/, ''));
  const { informational, fields = [], trailers = [] } = record;
  return {
    ...record,
    informational: informational.map(({ status, fields: hints }) => ({
      status,
      fields: trim(hints),
    })),
    fields: trim(fields),
    trailers: trim(trailers),
  };
}
