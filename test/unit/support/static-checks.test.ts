import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { runTool, type ToolResult } from '../../support/run-tool.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
const BOUNDARIES = join(ROOT, 'test/support/boundaries.cjs');
const NAMES = join(ROOT, 'test/support/check-exported-names.ts');

type Tree = Readonly<Record<string, string>>;

const EMPTY = 'export {};\n';

/** Runs a check in a directory that holds these files and nothing else. */
async function checkTree(
  tree: Tree,
  check: (directory: string) => Promise<ToolResult>,
): Promise<ToolResult> {
  await using directory = await TemporaryDirectory.create();
  for (const [path, text] of Object.entries({ 'tsconfig.json': '{}', ...tree })) {
    await mkdir(dirname(join(directory.path, path)), { recursive: true });
    await directory.write(path, text);
  }
  return await check(directory.path);
}

function checkBoundaries(tree: Tree): Promise<ToolResult> {
  const argv = ['--config', BOUNDARIES, 'controller', 'proxy', 'shared'];
  const folders = { 'controller/a.ts': EMPTY, 'proxy/a.ts': EMPTY, 'shared/runtime/a.ts': EMPTY };
  return checkTree({ ...folders, ...tree }, (directory) => runTool(CRUISER, argv, directory));
}

function checkNames(tree: Tree): Promise<ToolResult> {
  return checkTree(tree, (directory) => runTool(NAMES, ['controller', 'proxy'], directory));
}

describe('the boundaries', () => {
  test('accept folders that depend downwards', async () => {
    const { code, output } = await checkBoundaries({
      'proxy/one/a.ts': "import '../two/b.ts';\n",
      'proxy/two/b.ts': EMPTY,
    });

    expect(output).toContain('no dependency violations found');
    expect(code).toBe(0);
  });

  test('refuse folders that import each other, by different files', async () => {
    const { code, output } = await checkBoundaries({
      'proxy/one/a.ts': "import '../two/b.ts';\n",
      'proxy/one/c.ts': EMPTY,
      'proxy/two/b.ts': EMPTY,
      'proxy/two/d.ts': "import '../one/c.ts';\n",
    });

    expect(output).toContain('no-folder-cycles');
    expect(code).not.toBe(0);
  });

  test('refuse folders whose types depend on each other', async () => {
    const { code, output } = await checkBoundaries({
      'proxy/one/a.ts': "import type { B } from '../two/b.ts';\nexport type A = B;\n",
      'proxy/one/c.ts': 'export type C = 1;\n',
      'proxy/two/b.ts': 'export type B = 1;\n',
      'proxy/two/d.ts': "import type { C } from '../one/c.ts';\nexport type D = C;\n",
    });

    expect(output).toContain('no-folder-cycles');
    expect(code).not.toBe(0);
  });

  test.each([
    {
      rule: 'controller-knows-no-proxy',
      tree: { 'controller/b.ts': "import '../proxy/a.ts';\n" },
    },
    {
      rule: 'proxy-knows-no-kubernetes',
      tree: { 'proxy/b.ts': "import '../controller/a.ts';\n" },
    },
    { rule: 'shared-is-a-leaf', tree: { 'shared/runtime/b.ts': "import '../../proxy/a.ts';\n" } },
    {
      rule: 'compile-and-validate-are-pure',
      tree: { 'controller/compile/b.ts': "import 'node:fs';\n" },
    },
  ])('refuse an import that breaks $rule', async ({ rule, tree }) => {
    const { code, output } = await checkBoundaries(tree);

    expect(output).toContain(rule);
    expect(code).not.toBe(0);
  });
});

describe('the check of exported names', () => {
  test('accepts a name that one file exports, with overloads', async () => {
    const { code, output } = await checkNames({
      'controller/a.ts':
        'export function a(x: 1): 1;\nexport function a(x: 2): 2;\nexport function a(x: number) { return x; }\n',
      'proxy/b.ts': 'const a = 1;\nexport const b = a;\n',
    });

    expect(output).toContain('2 exported names, 0 exported twice');
    expect(code).toBe(0);
  });

  test('refuses a name that two files export, and prints both places', async () => {
    const { code, output } = await checkNames({
      'controller/a.ts': '/** One meaning. */\nexport interface Claim {}\n',
      'proxy/b.ts': 'export class Claim {}\n',
    });

    expect(output).toContain('Claim is exported more than once: controller/a.ts:2, proxy/b.ts:1');
    expect(code).toBe(1);
  });
});
