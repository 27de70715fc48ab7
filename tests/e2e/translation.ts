import type { BrowserContext } from '@playwright/test';

/**
 * Does to every page what a browser's translation does, though into the same words: replaces each text by an element with the text,
 * at once and whenever a text is added or changes. React still holds the text that is no longer there.
 */
export async function translatePages(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const replaceTexts = () => {
      const texts = document.createTreeWalker(
        document.body,
        NodeFilter.SHOW_TEXT,
        ({ parentElement, textContent }) =>
          textContent?.trim() &&
          !parentElement!.closest('font, script, style, noscript, option, textarea, title')
            ? NodeFilter.FILTER_ACCEPT
            : NodeFilter.FILTER_REJECT,
      );
      const found: Text[] = [];
      while (texts.nextNode()) found.push(texts.currentNode as Text);
      for (const text of found) {
        const font = document.createElement('font');
        font.textContent = text.data;
        text.replaceWith(font);
      }
    };
    // The browser translates a page once it has loaded.
    window.addEventListener('load', () => {
      replaceTexts();
      new MutationObserver(replaceTexts).observe(document.body, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
  });
}
