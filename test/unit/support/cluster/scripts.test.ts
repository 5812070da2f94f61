import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { findBinaries } from '../../../support/kubernetes/real/find-binaries.ts';
import type { ToolResult } from '../../../support/run-tool.ts';
import { TemporaryDirectory } from '../../../support/temporary-directory.ts';

const SCRIPTS = join(import.meta.dirname, '../../../support/cluster');
const OLD_GO = '#!/bin/sh\n[ "$1" = env ] && echo go1.19.8 && exit\nexit 1\n';

describe('the scripts of the cluster', () => {
  test('build API servers where the tests look for them', async () => {
    await using cache = await TemporaryDirectory.create();
    const { output } = await runBash('source ./common.sh && printf %s "$bin"', {
      XDG_CACHE_HOME: cache.path,
    });
    await mkdir(output, { recursive: true });
    const [kubeApiserver, etcd] = await Promise.all(
      ['kube-apiserver', 'etcd'].map(async (program) => writeProgram(join(output, program), '')),
    );

    expect(findBinaries({ XDG_CACHE_HOME: cache.path })).toEqual({ kubeApiserver, etcd });
  });

  test('offer no kind of cluster where Go is too old, and say so', async () => {
    await using programs = await TemporaryDirectory.create();
    await writeProgram(join(programs.path, 'go'), OLD_GO);

    const { code, output } = await runBash('./kinds.sh', {
      ...withProgramsIn(programs),
      KUBEBUILDER_ASSETS: undefined,
    });

    expect(code).toBe(0);
    const reason = 'Go 1.25 or newer is needed, and this is go1.19.8';
    expect(output.trim().split('\n')).toEqual([
      `no cluster of kind envtest: set KUBEBUILDER_ASSETS, or: ${reason}`,
      `no cluster of kind node: ${reason}`,
    ]);
  });

  test.each([
    [undefined, 0],
    ['node', 1],
  ])('prepare what REQUIRE_CLUSTER=%s names, or fail', async (required, expected) => {
    await using programs = await TemporaryDirectory.create();
    for (const program of ['go', 'npm']) await writeProgram(join(programs.path, program), OLD_GO);

    const { code, output } = await runBash('./prepare.sh', {
      ...withProgramsIn(programs),
      XDG_CACHE_HOME: programs.path,
      REQUIRE_CLUSTER: required,
    });

    expect(code).toBe(expected);
    expect(output).toContain('no cluster of kind node');
    expect(output).toContain('this is go1.19.8');
  });
});

async function writeProgram(path: string, text: string): Promise<string> {
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}

function withProgramsIn({ path }: TemporaryDirectory): { readonly PATH: string } {
  return { PATH: `${path}:${process.env['PATH'] ?? ''}` };
}

/**
 * Runs a command in the directory of the scripts, with these changes of the environment. A bash whose input is a
 * socket takes itself for a remote shell, and reads `.bashrc`, which may set another PATH.
 */
async function runBash(
  command: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ToolResult> {
  const options = { cwd: SCRIPTS, env: { ...process.env, ...variables } };
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['--norc', '-c', `${command} </dev/null`],
      options,
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
      },
    );
  });
}
