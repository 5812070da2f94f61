import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import { sealerWith } from './redis-stores-under-test.ts';
import { ID, placed, flipped } from './snapshot-keepers.ts';

describe('the file of the last good snapshot', () => {
  async function inDirectory(
    run: (directory: string, file: string) => Promise<void>,
  ): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-keeper-'));
    await run(directory, join(directory, 'last-good-snapshot'));
    await rm(directory, { recursive: true });
  }

  function keeperIn(directory: string): FileSnapshotKeeper {
    return new FileSnapshotKeeper({ directory, id: ID, sealer: sealerWith('a') });
  }

  test('is readable for its owner only, and the only file', async () => {
    await inDirectory(async (directory, file) => {
      await keeperIn(directory).save(placed(1, 1));
      await keeperIn(directory).save(placed(1, 2));

      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readdir(directory)).toEqual(['last-good-snapshot']);
    });
  });

  test('is named in the error if it cannot be used, and replaced by the next save', async () => {
    await inDirectory(async (directory, file) => {
      await keeperIn(directory).save(placed(7, 7));
      const text = await readFile(file, 'utf8');
      const middle = text.length >>> 1;
      for (const broken of ['', 'something else\n', text.slice(0, middle), flipped(text, middle)]) {
        await writeFile(file, broken);
        await expect(keeperIn(directory).load()).rejects.toThrow(file);
      }

      expect(await keeperIn(directory).save(placed(1, 1))).toBe('kept');
      expect(await keeperIn(directory).load()).toEqual(placed(1, 1));
    });
  });

  test('is unchanged after a process was killed while writing it', async () => {
    await inDirectory(async (directory, file) => {
      await keeperIn(directory).save(placed(1, 1));
      await writeFile(`${file}.next`, 'half of');

      expect(await keeperIn(directory).load()).toEqual(placed(1, 1));
      expect(await keeperIn(directory).save(placed(1, 2))).toBe('kept');
      expect(await readdir(directory)).toEqual(['last-good-snapshot']);
    });
  });

  test('can be in a directory that does not exist yet', async () => {
    await inDirectory(async (directory) => {
      const keeper = keeperIn(join(directory, 'a', 'b'));
      await keeper.save(placed(1, 1));

      expect(await keeper.load()).toEqual(placed(1, 1));
    });
  });

  test('cannot be in a path that is not a directory', async () => {
    await inDirectory(async (directory) => {
      await writeFile(join(directory, 'file'), '');
      const keeper = keeperIn(join(directory, 'file'));

      await expect(keeper.load()).rejects.toThrow('ENOTDIR');
      await expect(keeper.save(placed(1, 1))).rejects.toThrow('ENOTDIR');
    });
  });
});
