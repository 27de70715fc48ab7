import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chromium } from '@playwright/test';

interface Shot {
  file: string;
  screen: string;
  state: string;
  width: number;
  time: number;
}

function shotsIn(folder: string): Shot[] {
  return readdirSync(folder)
    .map((name) => {
      const [screen = '', state = '', width = ''] = name.replace('.jpg', '').split('__');
      const file = join(folder, name);
      return { file, screen, state, width: Number(width), time: statSync(file).mtimeMs };
    })
    .sort(
      (a, b) =>
        Number.parseInt(a.screen, 10) - Number.parseInt(b.screen, 10) || a.time - b.time || a.width - b.width,
    );
}

const asData = (file: string) => `data:image/jpeg;base64,${readFileSync(file).toString('base64')}`;

/**
 * Writes one HTML file that contains all pictures: a section for each screen, a row for each state. Returns the number of pictures.
 */
export function writeGallery(folder: string, page: string): number {
  const shots = shotsIn(folder);
  const screens = Map.groupBy(shots, ({ screen }) => screen);
  const sections = [...screens].map(([screen, ofScreen]) => {
    const states = [...Map.groupBy(ofScreen, ({ state }) => state)].map(([state, sizes]) => {
      const pictures = sizes.map(
        ({ file, width }) =>
          `<figure style="--w:${width}"><img loading="lazy" src="${asData(file)}" alt="${screen}, ${state}, ${width} px"><figcaption>${width}</figcaption></figure>`,
      );
      return `<h3>${state}</h3><div class="row">${pictures.join('')}</div>`;
    });
    return `<section id="${screen.split(' ')[0]}"><h2>${screen}</h2>${states.join('')}</section>`;
  });
  const links = [...screens.keys()].map((screen) => `<a href="#${screen.split(' ')[0]}">${screen}</a>`);
  mkdirSync(dirname(page), { recursive: true });
  writeFileSync(
    page,
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Gallery</title>
<style>
body { margin: 0; font: 16px/1.4 system-ui, sans-serif; background: #eceae6; color: #1d1916 }
nav { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; padding: .6rem 1.5rem; background: #fff; border-bottom: 1px solid #ccc }
section { padding: 1rem 1.5rem; scroll-margin-top: 3rem } h3 { margin: 1rem 0 .4rem; font-weight: 600 }
.row { display: flex; gap: 1rem; align-items: start; overflow-x: auto }
figure { flex: none; width: calc(var(--w) * var(--zoom, .42) * 1px); margin: 0 } img { display: block; width: 100%; border: 1px solid #bbb }
figcaption { font-size: .8rem; color: #555 }
</style>
<nav><b>${shots.length} pictures</b>${links.join('')}
<label>Size <input type="range" min=".2" max="1" step=".02" value=".42" oninput="document.body.style.setProperty('--zoom', this.value)"></label></nav>
${sections.join('\n')}</html>`,
  );
  return shots.length;
}

/** The six screens that the README shows. */
const flow: [screen: string, state: string][] = [
  ['1 Get Started', 'filled'],
  ['3 Student Details', 'filled'],
  ['4 Membership', 'to choose'],
  ['5 Checkout', 'filled, summary open'],
  ['7 Upgrade', 'offer'],
  ['9 Congratulations', 'done'],
];

/** Writes a picture of the six screens, side by side as on phones. */
export async function writeFlow(folder: string, picture: string, executablePath: string): Promise<void> {
  const images = flow.map(
    ([screen, state]) => `<div><img src="${asData(join(folder, `${screen}__${state}__360.jpg`))}"></div>`,
  );
  const browser = await chromium.launch({ executablePath });
  // Six phones of 360 by 926 px, shown 280 px wide. Longer pages are cut off at the bottom.
  const page = await browser.newPage({ viewport: { width: 1800, height: 752 } });
  await page.setContent(
    `<style>body { display: grid; grid-template-columns: repeat(6, 280px); justify-content: space-between; margin: 16px 10px }
    div { height: 720px; overflow: hidden; border-radius: 14px; outline: 1px solid #cfc6b4; background: #fffdf8 }
    img { display: block; width: 100% }</style>${images.join('')}`,
    { waitUntil: 'load' },
  );
  await page.screenshot({ path: picture });
  await browser.close();
}
