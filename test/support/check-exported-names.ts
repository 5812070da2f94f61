import { argv, cwd, exit } from 'node:process';

import { exportsByName } from './exported-names.ts';

/**
 * Lists the names that folders export from more than one file. One name has one meaning, so a search
 * for it finds one thing. Exits with 1 if there is such a name.
 */
function main(folders: readonly string[]): void {
  const declared = exportsByName(cwd(), folders);
  const repeated = [...declared].filter(([, declarations]) => declarations.length > 1);
  for (const [name, declarations] of repeated) {
    const places = declarations.map(({ place }) => place).join(', ');
    console.error(`${name} is exported more than once: ${places}`);
  }
  console.log(`${String(declared.size)} exported names, ${String(repeated.length)} exported twice`);
  if (repeated.length > 0) exit(1);
}

main(argv.slice(2));
