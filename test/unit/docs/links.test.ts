import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const DOCUMENTS = globSync(
  ['*.md', 'docs/*.md', 'proxy/store/*.md', 'test/*.md', 'test/bench/*/*.md'],
  { cwd: ROOT },
);

describe.each(DOCUMENTS)('%s', (document) => {
  const text = withoutCode(read(document));

  test('links to files and headings that exist', () => {
    expect(linksOf(text).filter((link) => !leadsSomewhere(document, link))).toEqual([]);
  });

  test('cites decisions that exist', () => {
    expect(missingDecisions(text)).toEqual([]);
  });
});

test('code and tests cite decisions that exist', () => {
  const files = globSync('{cli,controller,crds,proxy,shared,test}/**/*.ts', { cwd: ROOT });
  expect(files.flatMap((file) => missingDecisions(read(file)))).toEqual([]);
});

test('decisions are in the order of their numbers, and the index lists each once with its title', () => {
  const text = read('docs/decisions.md');
  const headings = [...text.matchAll(/^## (D-\d{3}) (.+)$/gm)].map(titleOf);
  const index = [...text.matchAll(/^- \[(D-\d{3})\]\(#d-\d{3}\) (.+)$/gm)].map(titleOf);

  expect(headings).toEqual([...headings].sort());
  expect(new Set(headings.map((title) => title.slice(0, 'D-001'.length))).size).toBe(
    headings.length,
  );
  expect([...index].sort()).toEqual(headings);
});

function titleOf([, id = '', title = '']: RegExpMatchArray): string {
  return `${id} ${title}`;
}

function read(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}

function missingDecisions(text: string): readonly string[] {
  const decisions = anchorsOf('docs/decisions.md');
  const cited = [...text.matchAll(/\bD-\d{3}\b/g)].map(([id]) => id);
  return cited.filter((id) => !decisions.has(id.toLowerCase()));
}

function withoutCode(text: string): string {
  return text.replace(/^ *```.*?^ *```/gms, '');
}

/** Targets of links within the repository. */
function linksOf(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : relative(ROOT, join(ROOT, dirname(document), path));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(target).has(anchor);
}

/** Anchors as GitHub makes them from headings, and those that are written out. */
function anchorsOf(document: string): ReadonlySet<string> {
  const text = withoutCode(read(document));
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...headings.map(slug), ...written]);
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
