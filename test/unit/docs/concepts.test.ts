import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const SOURCES = globSync('{cli,controller,crds,proxy,shared}/**/*.ts', { cwd: ROOT });
const CODE = SOURCES.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
const IDENTIFIERS = new Set(CODE.match(/[A-Za-z][A-Za-z0-9]*/g));

test.each(namesInGlossary())('the glossary names `%s`, which the code has', (name) => {
  expect(name.includes('/') ? existsSync(join(ROOT, name)) : IDENTIFIERS.has(name)).toBe(true);
});

test.each(foldersInReadme())('README lists %s, which exists', (path) => {
  expect(globSync(path, { cwd: ROOT })).not.toEqual([]);
});

test.each(['README.md', 'docs/concepts.md'])(
  'the stages that %s draws are imported by the page of a request',
  (file) => {
    const [stages = ''] = /match ►[^│]*/.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
    const page = readFileSync(join(ROOT, 'proxy/pipeline/handle-request.ts'), 'utf8');
    const missing = stages
      .split('►')
      .map((stage) => stage.trim())
      .filter((stage) => !new RegExp(`from './${stage}(?:-[a-z]+)*\\.ts'`).test(page));

    expect(stages.split('►')).toHaveLength(6);
    expect(missing).toEqual([]);
  },
);

/** What is in backticks in the last column of the glossary's tables: an identifier or a path. */
function namesInGlossary(): readonly string[] {
  const text = readFileSync(join(ROOT, 'docs/concepts.md'), 'utf8');
  const [, glossary = ''] = text.split('## Glossary');
  const cells = [...glossary.matchAll(/^\|[^|]*\|[^|]*\|([^|]*)\|$/gm)].map(
    ([, cell = '']) => cell,
  );
  return namesIn(cells.join('\n'));
}

/** Paths in the first column of README's table of folders. */
function foldersInReadme(): readonly string[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, guide = ''] = text.split('## Read the code');
  const cells = [...guide.matchAll(/^\|([^|]*)\|[^|]*\|$/gm)].map(([, cell = '']) => cell);
  return namesIn(cells.join('\n')).flatMap(expandBraces);
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** `a/{b,c}/` as `a/b/` and `a/c/`; any other path as it is. */
function expandBraces(path: string): readonly string[] {
  const [, before = '', list = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? ['', path];
  return list.split(',').map((each) => before + each + after);
}
