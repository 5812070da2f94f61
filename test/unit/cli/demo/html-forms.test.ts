import { describe, expect, test } from '@jest/globals';

import { findButtons, findTitle } from '../../../../cli/demo/client/html-forms.ts';
import { html } from '../../../../proxy/http/html.ts';
import { page } from '../../../../proxy/pages/layout.ts';

describe('forms of a page', () => {
  const { body } = page(200, {
    title: 'Allow <this>?',
    content: html`<form method="post" action="/decide?a=1&amp;b=2">
        <input type="hidden" name="csrf" value="${'a"b&c'}" />
        <button class="primary wide" name="decision" value="approve">Approve</button>
      </form>
      <form><button>Leave</button></form>`,
  });

  test('have buttons, each with everything that it sends', () => {
    const [approve, leave] = findButtons(body);
    expect(approve).toMatchObject({ method: 'POST', action: '/decide?a=1&b=2', isPrimary: true });
    expect([...(approve?.fields ?? [])]).toEqual([
      ['csrf', 'a"b&c'],
      ['decision', 'approve'],
    ]);
    expect(leave).toMatchObject({ method: 'GET', action: '', isPrimary: false });
  });

  test('are under the title of the page', () => {
    expect(findTitle(body)).toBe('Allow <this>?');
  });

  test('are none on a page without', () => {
    expect(findButtons('<p>Nothing</p>')).toEqual([]);
  });
});
