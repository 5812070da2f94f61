import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runGatehouse } from '../support/cli.ts';
import { writeCertificate } from '../support/push/push-world.ts';
import { createThrowawayAuthority } from '../support/throwaway-authority.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-controller-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe('a controller that cannot start', () => {
  test('names the file of its certificate, and the flag', async () => {
    const result = await runGatehouse(['controller', '--push-tls-dir', directory]);
    const file = join(directory, 'tls.crt');

    expect(result).toMatchObject({
      code: 1,
      stderr: `gatehouse: --push-tls-dir: cannot read ${file}: ENOENT\n`,
    });
  });

  test('names the flag if the files hold no certificate', async () => {
    await writeCertificate(directory, { cert: 'x', key: 'y' });
    const { stderr } = await runGatehouse(['controller', '--push-tls-dir', directory]);

    expect(stderr).toBe(
      `gatehouse: --push-tls-dir: tls.crt and tls.key in ${directory} are not a certificate and its private key\n`,
    );
  });

  test('names the flag for a kubeconfig if there is no cluster', async () => {
    await writeCertificate(directory, createThrowawayAuthority().issue(['127.0.0.1']));
    const result = await runGatehouse(['controller', '--push-tls-dir', directory]);

    expect(result).toMatchObject({
      code: 1,
      stderr:
        'gatehouse: no API server: not in a pod, and no kubeconfig is given (--kubeconfig FILE)\n',
    });
  });
});
