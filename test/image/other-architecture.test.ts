import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

import { findArchitecture, MACHINE_ARCHITECTURE } from '../../image/architectures.ts';
import { runProgram } from '../../image/run-program.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { BuiltImage, noImageReason } from '../support/image/built-image.ts';
import { whyMissing } from '../support/missing-program.ts';

/** A guard against hanging. A build that compiles on an emulator takes a minute on a busy machine. */
const EMULATED_BUILD_MS = 600_000;

const OTHER = findArchitecture(MACHINE_ARCHITECTURE === 'amd64' ? 'arm64' : 'amd64');

const describeOther = describeUnless(noImageReason ?? whyMissing(OTHER.emulator));

describeOther('the image for another architecture than this machine has', () => {
  test(
    'is of that architecture, and runs on its emulator',
    async () => {
      await using image = await BuiltImage.build(OTHER.name);
      expect((await image.config()).architecture).toBe(OTHER.name);
      const node = join(image.root, 'usr/local/bin/node');
      const script = join(image.root, 'app/cli/gatehouse.js');
      const printed = await runProgram(OTHER.emulator, [
        '-L',
        image.root,
        node,
        script,
        '--version',
      ]);
      expect(printed).toMatch(/^gatehouse \d+\.\d+\.\d+\n$/);
    },
    EMULATED_BUILD_MS,
  );

  test('has the same version of Node', async () => {
    const text = await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as {
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    };
    const versions = ['x64', 'arm64'].map(
      (name) => packages[`node_modules/node-linux-${name}`]?.version,
    );
    expect(versions).toEqual([process.versions.node, process.versions.node]);
  });
});
