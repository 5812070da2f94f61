import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

import { runProgram } from '../run-program.ts';

/**
 * Debian's packages for one architecture, as the sources of this machine have them today. apt checks
 * their signatures. Lists and packages are kept, so that later builds only ask for changes.
 */
export class DebianPackages {
  readonly #options: readonly string[];
  readonly #folder: string;

  private constructor(folder: string, architecture: string) {
    this.#folder = folder;
    const settings = {
      'Dir::State': join(folder, 'state'),
      'Dir::Cache': join(folder, 'cache'),
      // Nothing is installed, and this machine's own packages do not matter.
      'Dir::State::status': '/dev/null',
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'Acquire::Languages': 'none',
      // Another user than this one cannot write to the folder.
      'APT::Sandbox::User': '',
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }

  static async open(architecture: string): Promise<DebianPackages> {
    const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
    const folder = join(caches, 'gatehouse-image', architecture);
    await mkdir(join(folder, 'state'), { recursive: true });
    await mkdir(join(folder, 'cache'), { recursive: true });
    const packages = new DebianPackages(folder, architecture);
    await packages.#apt(folder, 'update');
    return packages;
  }

  /** Downloads packages, and returns their files in the order of the names. */
  async download(names: readonly string[]): Promise<readonly string[]> {
    // Lines are 'http://…' NAME_VERSION_ARCHITECTURE.deb SIZE SHA256:…, of files that the folder lacks.
    const printed = await this.#apt(
      join(this.#folder, 'state'),
      '--print-uris',
      'download',
      ...names,
    );
    await this.#apt(this.#folder, 'download', ...names);
    const files = printed.split('\n').flatMap((line) => line.split(' ')[1] ?? []);
    return names.map((name) => {
      const file = files.find((each) => each.startsWith(`${name}_`));
      if (file === undefined) throw new Error(`apt-get download prints no file of ${name}`);
      return join(this.#folder, file);
    });
  }

  #apt(folder: string, ...args: readonly string[]): Promise<string> {
    return runProgram(
      'flock',
      [join(this.#folder, 'lock'), 'apt-get', '-qq', ...this.#options, ...args],
      folder,
    );
  }
}
