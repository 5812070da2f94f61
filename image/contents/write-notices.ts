import type { Component } from './component.ts';

const LINE = '-'.repeat(80);

/** Writes the list of licences: every component in a line, and then the texts that packages of npm bring. */
export function writeNotices(components: readonly Component[]): string {
  const lines = components.map(({ name, version, license }) => `${name} ${version}: ${license}`);
  const chapters = components
    .filter(({ kind }) => kind === 'npm')
    .map((component) => [LINE, titleOf(component), LINE, '', textsOf(component), ''].join('\n'));
  return `The image of Gatehouse holds these works of others. The licences of Node and of Debian's packages are in their
folders beside this one.

${lines.join('\n')}

${chapters.join('\n')}`;
}

function titleOf({ name, version, license }: Component): string {
  return `${name} ${version} (${license})`;
}

function textsOf({ texts = [], license }: Component): string {
  if (texts.length > 0) return texts.map((text) => text.trim()).join('\n\n');
  return `The package has no text of its licence, and names it: ${license}.`;
}
