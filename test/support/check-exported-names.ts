import { globSync, readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';

import ts from 'typescript';

/** Where a name is exported: `file:line`. */
interface Declaration {
  readonly name: string;
  readonly place: string;
}

/**
 * Lists the names that product code exports from more than one file. One name has one meaning, so a
 * search for it finds one thing. Exits with 1 if there is such a name.
 */
function main(folders: readonly string[]): void {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`)).sort();
  const places = Map.groupBy(files.flatMap(exportedNames), ({ name }) => name);
  const repeated = [...places.values()].filter((declared) => declared.length > 1);
  for (const declared of repeated) {
    const listed = declared.map(({ place }) => place).join(', ');
    console.error(`${declared[0]?.name ?? ''} is exported more than once: ${listed}`);
  }
  console.log(`${String(places.size)} exported names, ${String(repeated.length)} exported twice`);
  if (repeated.length > 0) exit(1);
}

/** Names that a file declares and exports. Overloads of one function count once. */
function exportedNames(file: string): readonly Declaration[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const found = new Map<string, Declaration>();
  for (const statement of source.statements) {
    if (!isExported(statement)) continue;
    const { line } = source.getLineAndCharacterOfPosition(statement.getStart(source));
    for (const name of declaredNames(statement)) {
      found.set(name, { name, place: `${file}:${String(line + 1)}` });
    }
  }
  return [...found.values()];
}

function isExported(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false;
  const modifiers = ts.getModifiers(statement) ?? [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  }
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

main(argv.slice(2));
