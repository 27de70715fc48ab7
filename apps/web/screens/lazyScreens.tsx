import type { ReactElement } from 'react';
import { type ScreenName, screenTitles } from '#core/navigation.ts';
import { PageLoader } from '../components/PageLoader.tsx';
import { Placeholder as MembershipPlaceholder } from './membership/Placeholder.tsx';
import { Placeholder as PostPaymentPlaceholder } from './postPayment/Placeholder.tsx';
import { Placeholder as StudentDetailsPlaceholder } from './studentDetails/Placeholder.tsx';
import { Placeholder as UpgradePlaceholder } from './upgrade/Placeholder.tsx';

export interface LazyScreen {
  /**
   * Imports the route's loader, action and component. The chunk's name must be the screen's name, because the server uses it to
   * find the scripts to preload.
   */
  load: () => Promise<object>;
  /** Shown while the screen's code and data are loading. If absent, the previous screen stays visible. */
  placeholder?: ReactElement;
}

const loader = (name: ScreenName, text: string) => <PageLoader title={screenTitles[name]} text={text} />;

/** All screens but Get Started, whose code is part of the first load. */
export const lazyScreens = {
  init: {
    load: () => import(/* webpackChunkName: "init" */ './init/route.tsx'),
    placeholder: loader('init', 'Opening your invitation…'),
  },
  studentDetails: {
    load: () => import(/* webpackChunkName: "studentDetails" */ './studentDetails/route.ts'),
    placeholder: <StudentDetailsPlaceholder />,
  },
  membership: {
    load: () => import(/* webpackChunkName: "membership" */ './membership/route.ts'),
    placeholder: <MembershipPlaceholder />,
  },
  checkout: {
    load: () => import(/* webpackChunkName: "checkout" */ './checkout/route.ts'),
    placeholder: loader('checkout', 'Loading your order…'),
  },
  postPayment: {
    load: () => import(/* webpackChunkName: "postPayment" */ './postPayment/route.ts'),
    placeholder: <PostPaymentPlaceholder />,
  },
  upgrade: {
    load: () => import(/* webpackChunkName: "upgrade" */ './upgrade/route.ts'),
    placeholder: <UpgradePlaceholder />,
  },
  initiateUpgrade: {
    load: () => import(/* webpackChunkName: "initiateUpgrade" */ './initiateUpgrade/route.tsx'),
  },
  uploadTranscript: {
    load: () => import(/* webpackChunkName: "uploadTranscript" */ './uploadTranscript/route.tsx'),
  },
  congratulations: {
    load: () => import(/* webpackChunkName: "congratulations" */ './congratulations/route.tsx'),
  },
  initializeCheckout: {
    load: () => import(/* webpackChunkName: "initializeCheckout" */ './initializeCheckout/route.tsx'),
    placeholder: loader('initializeCheckout', 'Preparing your checkout…'),
  },
  uploadResume: {
    load: () => import(/* webpackChunkName: "uploadResume" */ './uploadResume/route.tsx'),
  },
  uploadByLink: {
    load: () => import(/* webpackChunkName: "uploadByLink" */ './uploadByLink/route.tsx'),
  },
  pass: {
    load: () => import(/* webpackChunkName: "pass" */ './pass/route.tsx'),
    placeholder: loader('pass', 'Opening your registration…'),
  },
  verify: {
    load: () => import(/* webpackChunkName: "verify" */ './verify/route.tsx'),
    placeholder: loader('verify', 'Loading the membership…'),
  },
  pay: {
    load: () => import(/* webpackChunkName: "pay" */ './pay/route.ts'),
    placeholder: loader('pay', 'Loading the order…'),
  },
  check: {
    load: () => import(/* webpackChunkName: "check" */ './check/route.tsx'),
  },
  stopReminders: {
    load: () => import(/* webpackChunkName: "stopReminders" */ './stopReminders/route.tsx'),
    placeholder: loader('stopReminders', 'Loading…'),
  },
} satisfies Record<Exclude<ScreenName, 'getStarted'>, LazyScreen>;

export const notFound: LazyScreen = {
  load: () => import(/* webpackChunkName: "notFound" */ './notFound/route.tsx'),
};

/** Returns a screen's placeholder; undefined when it has none. */
export function placeholderOf(name: ScreenName): ReactElement | undefined {
  return name === 'getStarted' ? undefined : (lazyScreens[name] as LazyScreen).placeholder;
}
