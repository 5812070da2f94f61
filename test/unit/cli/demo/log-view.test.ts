import { stripVTControlCharacters } from 'node:util';

import { describe, expect, test } from '@jest/globals';

import { LogView } from '../../../../cli/demo/log-view.ts';

const DECISION = {
  level: 'info',
  service: 'authorize',
  time: '2026-11-21T12:04:31.000Z',
  message: 'authorize check',
  email: 'alice@example.com',
  'mcp-method': 'tools/call',
  'mcp-tool': 'delete_invoice',
  'mcp-tool-parameters': { id: 'INV-1003' },
  allow: true,
  deny: false,
};

function shown(record: Readonly<Record<string, unknown>>): string | undefined {
  const line = view(JSON.stringify(record));
  return line === undefined ? undefined : stripVTControlCharacters(line);
}

/** What a person sees of one line of the log. */
function view(line: string): string | undefined {
  let written: string | undefined;
  new LogView({ write: (text) => (written = text.replace(/\n$/, '')) }).write(`${line}\n`);
  return written;
}

describe('log view', () => {
  test('shows who was allowed to do what in one line', () => {
    const line = shown(DECISION);
    expect(line).toContain('allowed');
    expect(line).toContain('alice@example.com');
    expect(line).toContain('tools/call delete_invoice');
    expect(line).toContain('{"id":"INV-1003"}');
  });

  test.each([
    { allow: true, deny: true, 'deny-why-true': ['mcp-tool-unauthorized'] },
    { allow: false, deny: true, 'allow-why-false': ['mcp-tool-unauthorized'] },
    { allow: false, deny: false, 'allow-why-false': ['mcp-tool-unauthorized'] },
  ])('shows a denial with its reasons: %j', (decision) => {
    const line = shown({ ...DECISION, ...decision });
    expect(line).toContain('denied');
    expect(line).toContain('mcp-tool-unauthorized');
  });

  test('says nobody where there is no user', () => {
    expect(shown({ ...DECISION, email: undefined })).toContain('nobody');
  });

  test.each(['warn', 'error'])('shows records of level %s with their fields', (level) => {
    const line = shown({ level, service: 'gateway', message: 'route rejected', path: '/spec/to' });
    expect(line).toBe(`${level}: route rejected  path="/spec/to"`);
  });

  test.each([
    [{ message: 'client registered', 'client-name': 'Inspector' }, 'client registered  Inspector'],
    [{ message: 'user signed in', user: 'alice', provider: 'demo' }, 'user signed in  alice'],
    [{ message: 'connection made', resource: 'http://a/' }, 'connection made  http://a/'],
    [{ message: 'configuration applied', routes: 1 }, 'configuration applied'],
  ])('shows the event %j', (fields, line) => {
    expect(shown({ level: 'info', service: 'gateway', ...fields })).toBe(line);
  });

  test('leaves other records out', () => {
    expect(shown({ level: 'info', service: 'gateway', message: 'listening' })).toBeUndefined();
  });

  test('does not let the name of a tool steer the terminal', () => {
    const line = view(JSON.stringify({ ...DECISION, 'mcp-tool': 'a\u001b[2Jb\rc' }));
    expect(line).not.toContain('\u001b[2J');
    expect(line).not.toContain('\r');
  });

  test('passes on what is not JSON', () => {
    expect(view('a warning of Node')).toBe('a warning of Node');
  });

  test('waits for the rest of a line', () => {
    const written: string[] = [];
    const view = new LogView({ write: (text) => written.push(text) });
    view.write('not ');
    view.write('JSON\n');
    expect(written).toEqual(['not JSON\n']);
  });
});
