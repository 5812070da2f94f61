import { describe, expect, test } from '@jest/globals';

import {
  parseDocuments,
  type SourceDocument,
} from '../../../../controller/files/parse-documents.ts';

const TEXT = `# Two documents and an empty one.
spec:
  routes:
    - from: a
    - { from: b,
        to: c }
  claim/https://x.y/z: { q: 1 }
---
---
base: &base
  k: 1
derived:
  <<: *base
  z: 2
`;

describe('parseDocuments', () => {
  test('reads every document, and counts the empty ones', () => {
    const { documents, syntaxProblems } = parseDocuments('a.yaml', TEXT);
    expect(syntaxProblems).toEqual([]);
    expect(documents.map(({ number, value }) => ({ number, value }))).toMatchObject([
      { number: 1, value: { spec: { routes: [{ from: 'a' }, { from: 'b', to: 'c' }] } } },
      { number: 3, value: { derived: { k: 1, z: 2 } } },
    ]);
  });

  test('reads JSON, with tabs too', () => {
    const { documents } = parseDocuments(
      'a.json',
      '{\n\t"kind": "Route",\n\t"n": [\n\t\t1\n\t]\n}',
    );
    expect(documents[0]?.value).toEqual({ kind: 'Route', n: [1] });
  });

  test.each([
    { path: 'spec.routes[0].from', line: 4 },
    { path: 'spec.routes[1].to', line: 6 },
    { path: 'spec.claim/https://x.y/z.q', line: 7 },
    { path: 'spec.routes[1].missing', line: 5 },
    { path: 'spec.routes[7].from', line: 3 },
    { path: 'nothing', line: 2 },
    { path: '', line: 2 },
  ])('finds the line of "$path"', ({ path, line }) => {
    expect(first(TEXT).lineOf(path)).toBe(line);
  });

  test('finds the line of the value of an alias', () => {
    expect(first('a: &x\n  b: 1\nc: *x\n').lineOf('c.b')).toBe(2);
  });

  test.each([
    { problem: 'a key that is there twice', text: 'a: 1\n---\na: 1\na: 2\n', document: 2, line: 4 },
    { problem: 'a list without its end', text: 'a: 1\n\nb: [1,\n', document: 1, line: 4 },
    { problem: 'an alias without an anchor', text: 'a: *b\n', document: 1, line: 1 },
    { problem: 'an unknown tag', text: 'x: 1\na: !b c\n', document: 1, line: 2 },
  ])('reports $problem, and keeps no document of the file', ({ text, document, line }) => {
    const { documents, syntaxProblems } = parseDocuments('a.yaml', text);
    expect(syntaxProblems).toMatchObject([{ document, line }]);
    expect(documents).toEqual([]);
  });

  test.each([
    { name: 'U+0000', character: '\0' },
    { name: 'U+0008', character: '\b' },
    { name: 'U+000B', character: '\v' },
    { name: 'U+000C', character: '\f' },
    { name: 'U+001B', character: '\x1b' },
    { name: 'U+007F', character: '\x7f' },
    { name: 'U+0080', character: '\x80' },
    { name: 'U+0084', character: '\x84' },
    { name: 'U+009F', character: '\x9f' },
    { name: 'U+FFFE', character: '\ufffe' },
    { name: 'U+FFFF', character: '\uffff' },
  ])('reports the place of $name, also in quotes and comments', ({ name, character }) => {
    for (const before of ['b: "x', 'b: x ', '# xxx ', "b: 'x"]) {
      const { documents, syntaxProblems } = parseDocuments('a.yaml', `a: 1\n${before}${character}`);
      const column = String(before.length + 1);
      const message = `column ${column} has the character ${name}, which YAML forbids`;
      expect({ documents, syntaxProblems }).toEqual({
        documents: [],
        syntaxProblems: [{ line: 2, message }],
      });
    }
  });

  test('reads every character that YAML allows', () => {
    const text = 'a\t\x85\u00a0äß\u2028\ud7ff\ue000\ufffd\u{10000}\u{10ffff}z';
    expect(parseDocuments('a.json', JSON.stringify({ text })).documents[0]?.value).toEqual({
      text,
    });
  });

  test('says that lists are nested too deeply, and on which line', () => {
    const { documents, syntaxProblems } = parseDocuments(
      'a.yaml',
      `a: 1\n---\nb: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`,
    );
    expect(documents).toEqual([]);
    const message = 'lists and maps are nested too deeply to be read';
    expect(syntaxProblems[0]).toEqual({ document: 2, line: 3, message });
    expect(JSON.stringify(syntaxProblems)).not.toContain('stack');
  });

  test('rejects aliases that expand without end', () => {
    const levels = Array.from({ length: 9 }, (_value, index) => {
      const list = Array.from({ length: 9 }, () => `*l${String(index)}`).join(', ');
      return `l${String(index + 1)}: &l${String(index + 1)} [${list}]`;
    });
    const { syntaxProblems } = parseDocuments('a.yaml', ['l0: &l0 [x]', ...levels].join('\n'));
    expect(syntaxProblems).toHaveLength(1);
  });

  test.each([
    'client_secret: *hunter2',
    'client_secret: !hunter2',
    'client_secret: "hunter2',
    'client_secret: hunter2: x',
    'client_secret: {hunter2',
    'client_secret: hunter2\nclient_secret: hunter2',
  ])('never shows a secret in a problem: %j', (text) => {
    const { syntaxProblems } = parseDocuments('a.yaml', text);
    expect(syntaxProblems).not.toEqual([]);
    expect(JSON.stringify(syntaxProblems)).not.toContain('hunter2');
  });

  test.each(['', ' \n\n'])(
    'does not take an emptied file (%j) for an empty configuration',
    (text) => {
      const { documents, syntaxProblems } = parseDocuments('routes.yaml', text);
      expect(documents).toEqual([]);
      expect(syntaxProblems).toEqual([
        { document: 1, line: 1, message: expect.stringContaining('empty') },
      ]);
    },
  );
});

function first(text: string): SourceDocument {
  const [document] = parseDocuments('a.yaml', text).documents;
  if (document === undefined) throw new Error('the text has a document');
  return document;
}
